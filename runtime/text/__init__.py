"""What a text is made of: its terms, and the language it is written in."""

from runtime.text.analyzer import analyze, content_terms
from runtime.text.language import detect, question_language

__all__ = ["analyze", "content_terms", "detect", "question_language"]
