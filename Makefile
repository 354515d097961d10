# Runs from a bare clone: python3 (3.11 or newer), git and make. Every path is relative, so that
# a folder whose name has a space works too.
.DEFAULT_GOAL := help
.PHONY: help demo test dev check lint bench lock clean

help: ## List these targets
	@grep -hE '^[a-z]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "make %-7s %s\n", $$1, $$2 }'

demo: ## Set up, load examples/payments, ask its questions, print cited answers and times
	@./scripts/setup base
	@.venv/bin/python scripts/demo.py

test: check ## Set up, then lint, types, the arrows contract and every test
	@./scripts/test

dev: ## Start the LangGraph server for Studio at http://127.0.0.1:2024
	@./scripts/setup dev
	@./scripts/dev

check: ## Set up, then lint, types and the arrows contract, changing nothing
	@./scripts/setup dev
	@./scripts/check

lint: ## Reformat the code and repair what ruff can
	@./scripts/setup dev
	.venv/bin/python -m ruff check --fix .
	.venv/bin/python -m ruff format .

bench: ## Measure the graph's own cost beside an empty graph
	@./scripts/setup dev
	.venv/bin/python -m benchmarks.graph_overhead

lock: ## Write both requirements locks anew (needs uv)
	./scripts/lock

clean: ## Remove the environment, caches and the demo's data; DATA_DIR stays
	rm -rf .venv .demo .langgraph_api .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
