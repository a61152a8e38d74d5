"""Errors for the names of other libraries."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_OURS: tuple[type[Exception], ...] = (ValueError, TypeError, IndexError)


def raises_also(theirs: type[Exception]) -> Callable[[F], F]:
    """A decorator: ValueError, TypeError and IndexError are `theirs` too, so
    that programs which catch what the other library raises go on to."""
    both = [(ours, type(ours.__name__, (ours, theirs),
                        {"__module__": __name__})) for ours in _OURS]

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except _OURS as error:
                for ours, kind in both:
                    if isinstance(error, ours):
                        raise kind(*error.args).with_traceback(
                            error.__traceback__) from None
                raise

        return call  # type: ignore[return-value]

    return decorate
