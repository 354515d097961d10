"""One small hierarchy of errors. A message names the thing, the cause and the way out."""


class AgenticRagError(RuntimeError):
    """Base of all errors that this program raises on purpose.

    `exit_code` is what the command line returns for it. A RuntimeError, because LangGraph
    Server hides the message of every class that it does not know.
    """

    exit_code = 1


class ConfigurationError(AgenticRagError):
    """A setting, declaration or command option cannot be used as it stands."""

    exit_code = 2


class InputError(AgenticRagError):
    """What the caller asked or handed over cannot be processed."""

    exit_code = 2


class InvalidRequest(InputError):
    """A request is JSON but not of the shape asked for; the message names each field."""


class AccessDenied(AgenticRagError):
    """The caller's identity does not allow this. The message names nothing it may not know."""

    exit_code = 3


class KnowledgeError(AgenticRagError):
    """The knowledge is missing, damaged, or made with other settings."""

    exit_code = 4


class StoreBusy(KnowledgeError):
    """Another process holds the store. `holder` says who and, for a server, where."""

    exit_code = 5


class BackendError(AgenticRagError):
    """A store, model or service failed or was late."""

    exit_code = 6


class IngestError(AgenticRagError):
    """One file cannot be loaded; it is quarantined with this message and the rest goes on."""
