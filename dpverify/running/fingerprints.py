"""A hash of what determines a result: mechanisms, data sets, parameters."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import dis
import fractions
import functools
import hashlib
import importlib
import importlib.util
import operator
import re
import sys
import types
import typing
from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.running.sources import hash_of_file, is_installed

_ALLOWED = (
    "numbers, text, arrays, containers, functions, dataclasses, instances of one's own classes, and objects with a "
    "text attribute `fingerprint`"
)

_CLASS_NOISE = frozenset({
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__",
    "__dataclass_params__", "__match_args__", "__parameters__", "__orig_bases__", "__static_attributes__",
    "__firstlineno__", "__classdictcell__", "__protocol_attrs__", "_is_protocol", "_is_runtime_protocol",
    "__non_callable_proto_members__", "__slotnames__",
})  # fmt: skip
"""What a class holds that says nothing about what its methods do, or differs from process to process."""

_C_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)

_WELL_SHOWN = (
    types.GenericAlias, types.UnionType, typing.TypeVar, operator.itemgetter, operator.attrgetter,
    operator.methodcaller, datetime.date, datetime.time, datetime.timedelta,
)  # fmt: skip
"""Types whose text says everything."""

_MADE_OF: dict[type | tuple[type, ...], tuple[str, ...]] = {
    functools.partial: ("func", "args", "keywords"),
    types.MethodType: ("__func__", "__self__"),
    (staticmethod, classmethod): ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
    (slice, range): ("start", "stop", "step"),
    re.Pattern: ("pattern", "flags"),
}
"""What the content of an object of some types is: these attributes."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))


def fingerprint(value: object, *, readable_only: bool = False) -> str:
    """Hash a value by its content, the same in every process and on every machine.

    Arrays count by type, shape and bytes; containers and dataclasses by what they hold; objects with a text
    attribute `fingerprint` by that. Functions count by their code, default arguments and closures, and by the
    globals that they read; classes by their attributes and bases, and instances of plain classes by class and
    attributes; all of this goes on into what they read and call. It stops at installed packages, which count by
    name and version, and at this program. What a function reads in other ways (files, the environment,
    `getattr` with a computed name) is beyond reach. Modules that a function imports when it is called are
    imported.

    Args:
        value: what to hash.
        readable_only: pass over what cannot be read, instead of refusing it.

    Returns:
        64 hexadecimal digits.

    Raises:
        InvalidArgumentError: if some part has no content that could be read, with where it is.
    """
    reader = _ValueHasher(readable_only)
    try:
        reader.read(value, "fingerprint")
        return reader.digest()
    except RecursionError:
        raise InvalidArgumentError(
            "fingerprint", type(value), "values that are not nested so deeply"
        ) from None


class _ValueHasher:
    """Feeds a hash. Functions and classes are numbered and read one after the other, so that no circle hurts."""

    def __init__(self, readable_only: bool) -> None:
        self._digest = hashlib.sha256()
        self._readable_only = readable_only
        self._numbers: dict[int, int] = {}
        self._waiting: deque[tuple[Any, str]] = deque()
        self._inside: list[int] = []
        self._alive: list[object] = []

    def digest(self) -> str:
        """Read what waits, then 64 hexadecimal digits of all that was read."""
        while self._waiting:
            value, where = self._waiting.popleft()
            if isinstance(value, type):
                self._class(value, where)
            else:
                self._function(value, where)
        return self._digest.hexdigest()

    def _part(self, kind: str, content: str | bytes = b"") -> None:
        """One part, preceded by its kind and length, so that no two values read alike."""
        encoded = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self._digest.update(f"{kind}:{len(encoded)}:".encode())
        self._digest.update(encoded)

    def read(self, value: Any, where: str) -> None:
        """Add one value; `where` says what it is, for a refusal."""
        if type(value) in _PLAIN:
            self._part(type(value).__name__, _plain(value))
        elif isinstance(value, Enum):
            self._part("enum", f"{_name(type(value))}.{value.name}")
            self._refer(type(value), where)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._array(np.asarray(value), where)
        elif isinstance(value, type):
            self._part("type", _name(value))
            self._refer(value, where)
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, types.FunctionType):
            self._refer(value, where)
        elif isinstance(value, types.CodeType):
            self._code(value, where)
        elif isinstance(value, np.ufunc):
            self._part("builtin", f"numpy.{value.__name__}")
        elif isinstance(value, _C_METHODS):
            self._part("builtin", f"{_name(value.__objclass__)}.{value.__name__}")
        elif isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType)):
            self._part("builtin", f"{getattr(value, '__module__', '')}.{value.__name__}")
            if not isinstance(value.__self__, types.ModuleType):
                self.read(value.__self__, where)
        else:
            self._container(value, where)

    def _container(self, value: Any, where: str) -> None:
        if id(value) in self._inside:
            self._part("circle", str(len(self._inside) - self._inside.index(id(value))))
            return
        self._inside.append(id(value))
        self._alive.append(value)
        try:
            if self._single(value, where) or self._collection(value, where) or self._object(value, where):
                return
            require(self._readable_only, where, value, _ALLOWED)
            self._part("unreadable", _name(type(value)))
        finally:
            self._inside.pop()

    def _single(self, value: Any, where: str) -> bool:
        """Read what states its content, or is a single value such as a number or a text."""
        kind = type(value)
        if isinstance(getattr(value, "fingerprint", None), str):
            self._part(_name(kind), value.fingerprint)
        elif made_of := next((names for of, names in _MADE_OF.items() if isinstance(value, of)), ()):
            self._all(kind.__name__, tuple(getattr(value, name) for name in made_of), where)
        elif isinstance(getattr(value, "__wrapped__", None), types.FunctionType) and callable(value):
            self._all(f"wrapped {_name(kind)}", (value.__wrapped__,), where)
        elif isinstance(value, (decimal.Decimal, fractions.Fraction, PurePath, np.dtype)):
            self._part(kind.__name__, str(value))
        elif isinstance(value, _WELL_SHOWN):
            self._part(_name(kind), repr(value))
        elif isinstance(value, (int, float, complex, str, bytes)):
            self._part("value", _plain(_bare(value)))
            self._instance(value, where)
        elif isinstance(value, bytearray):
            self._part("bytearray", bytes(value))
        else:
            return False
        return True

    def _collection(self, value: Any, where: str) -> bool:
        """Read what holds other values."""
        if dataclasses.is_dataclass(value):
            self._dataclass(value, where)
        elif isinstance(value, (tuple, list, deque)):
            self._all(type(value).__name__, tuple(value), where)
            self._subclass(value, (tuple, list, deque), where)
        elif isinstance(value, AbstractSet):
            self._all("set", tuple(sorted(value, key=_order)), where)
            self._subclass(value, (set, frozenset), where)
        elif isinstance(value, Mapping):
            # in its order, which a function may depend on
            self._all("mapping", tuple(part for pair in value.items() for part in pair), where)
            self._subclass(value, (dict, types.MappingProxyType), where)
        elif isinstance(value, types.SimpleNamespace):
            self._all("namespace", (vars(value),), where)
        elif hasattr(value, "__array_namespace__"):
            self._array(np.asarray(value), where)
        else:
            return False
        return True

    def _object(self, value: Any, where: str) -> bool:
        """Read an instance of a plain class, or what an installed package has under a name."""
        if _is_plain_class(type(value)):
            self._part("instance", _name(type(value)))
            self._instance(value, where)
        elif name := _installed_name(value):
            self._part("installed", name)
        else:
            return False
        return True

    def _all(self, kind: str, values: tuple[Any, ...], where: str) -> None:
        self._part(kind, str(len(values)))
        for value in values:
            self.read(value, where)

    def _subclass(self, value: Any, plain: tuple[type, ...], where: str) -> None:
        if type(value) not in plain:
            self._instance(value, where)

    def _instance(self, value: Any, where: str) -> None:
        """The class, and what the instance has of its own."""
        kind = type(value)
        self._refer(kind, where)
        found = object.__getstate__(value)
        own, state = found if isinstance(found, tuple) else (found, {})
        # computed from the rest, and there or not depending on what was asked before
        computed = {
            name
            for base in kind.__mro__
            for name, part in vars(base).items()
            if isinstance(part, functools.cached_property)
        }
        state = {**state, **{name: part for name, part in (own or {}).items() if name not in computed}}
        self._part("attributes", str(len(state)))
        for name, part in state.items():
            self._part("attribute", name)
            self.read(part, _inner(where, f"the attribute {name} of {kind.__qualname__}"))

    def _dataclass(self, value: Any, where: str) -> None:
        kind = type(value)
        self._part("dataclass", _name(kind))
        self._refer(kind, where)
        for field in dataclasses.fields(value):
            if field.metadata.get("words"):  # for readers: nothing depends on them
                continue
            self._part("field", field.name)
            self.read(
                getattr(value, field.name), _inner(where, f"the field {field.name} of {kind.__qualname__}")
            )

    def _array(self, array: Any, where: str) -> None:
        if array.dtype.hasobject:
            raise InvalidArgumentError(
                _inner(where, "fingerprint of an array"), array.dtype, "arrays of numbers"
            )
        self._part("array", f"{array.dtype.str}{array.dtype.descr if array.dtype.names else ''}{array.shape}")
        self._part("bytes", array.tobytes())

    def _refer(self, value: Any, where: str) -> None:
        """Number a function or class, and read it later."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._numbers)
            self._alive.append(value)
            self._waiting.append((value, where))
        self._part("number", str(number))

    def _module(self, module: types.ModuleType) -> None:
        self._part("module", module.__name__)
        if not is_installed(module):
            self._part("source", hash_of_file(getattr(module, "__file__", None) or ""))
            return
        whole = sys.modules.get(module.__name__.partition(".")[0])
        self._part("version", str(getattr(whole, "__version__", "")))

    def _code(self, code: types.CodeType, where: str) -> None:
        self._part("code", code.co_code)
        self._part("exceptions", getattr(code, "co_exceptiontable", b""))
        flags = (code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self._all(
            "names", (*flags, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars), where
        )
        self._all("constants", code.co_consts, where)

    def _function(self, function: types.FunctionType, where: str) -> None:
        where = f"what {function.__qualname__} reads" if where == "fingerprint" else where
        self._part("function", _name(function))
        self._code(function.__code__, where)
        self._all(
            "defaults",
            (function.__defaults__, function.__kwdefaults__),
            f"a default of {function.__qualname__}",
        )
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._part("closure", name)
            try:
                content = cell.cell_contents
            except ValueError:
                self._part("empty")
                continue
            self.read(content, f"the variable {name} that {function.__qualname__} reads")
        if _is_own(function):
            attributes = {name: part for name, part in vars(function).items() if name != "__wrapped__"}
            self.read(attributes, f"an attribute of {function.__qualname__}")
            self._globals(function)

    def _globals(self, function: types.FunctionType) -> None:
        codes = list(_nested(function.__code__))
        names = {name for code in codes for name in code.co_names}
        seen: set[int] = set()
        for module in _imported(codes, names, function.__globals__):
            self._module(module)
            self._named(names, vars(module), names, function.__qualname__, seen)
        instructions = (instruction for code in codes for instruction in dis.get_instructions(code))
        first = {i.argval for i in instructions if "GLOBAL" in i.opname or i.opname == "LOAD_NAME"}
        self._named(first, function.__globals__, names, function.__qualname__, seen)

    def _named(
        self, first: set[str], namespace: Mapping[str, Any], names: set[str], reader: str, seen: set[int]
    ) -> None:
        """What has the first names here, and where that is a module, what has any of the names in it."""
        for name in sorted(first & namespace.keys()):
            value = namespace[name]
            self._part("global", name)
            self.read(value, f"the global {name} that {reader} reads")
            if isinstance(value, types.ModuleType) and not is_installed(value) and id(value) not in seen:
                seen.add(id(value))
                self._named(names, vars(value), names, reader, seen)

    def _class(self, kind: type, where: str) -> None:
        if not _is_own(kind):
            return
        self._part("class", _name(kind))
        for base in (*kind.__bases__, type(kind)):
            self._part("base", _name(base))
            self._refer(base, where)
        content = _class_content(kind)
        for name, value in content.items():
            self._part("attribute", name)
            self.read(value, f"the attribute {name} of the class {kind.__qualname__}")
        for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
            for default in (field.default, field.default_factory):
                if default is not dataclasses.MISSING:
                    self.read(default, f"the default of the field {field.name} of {kind.__qualname__}")


def _plain(value: Any) -> str | bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, complex):
        return f"{value.real.hex()} {value.imag.hex()}"
    # hexadecimal: Python limits how many decimal digits it writes
    return hex(value) if isinstance(value, int) else str(value)


def _bare(value: int | float | complex | str | bytes) -> object:
    """The value without its subclass, whatever that makes of conversions."""
    kind = next(kind for kind in (int, float, complex, str, bytes) if isinstance(value, kind))
    return getattr(kind, f"__{kind.__name__}__")(value)


def _order(value: Any) -> tuple[str, str]:
    """Puts the elements of a set in an order that does not depend on the hashes of this process."""
    if type(value) in _PLAIN:
        content = _plain(value)
        return type(value).__name__, content.hex() if isinstance(content, bytes) else content
    if isinstance(value, (tuple, frozenset)):
        parts = [_order(part) for part in value]
        return type(value).__name__, repr(sorted(parts) if isinstance(value, frozenset) else parts)
    named = isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))
    return type(value).__name__, _name(value) if named else fingerprint(value, readable_only=True)


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _inner(where: str, inner: str) -> str:
    return inner if where == "fingerprint" else f"{inner}, in {where}"


def _is_own(value: Any) -> bool:
    """Whether a function or class comes from outside of the installed packages."""
    if isinstance(value, types.FunctionType):
        namespace = value.__globals__
        module = types.ModuleType(str(namespace.get("__name__", "")))
        module.__dict__.update({k: namespace[k] for k in ("__file__", "__spec__") if k in namespace})
        return not is_installed(module)
    module_of = sys.modules.get(str(value.__module__))
    return value.__module__ != "builtins" and (module_of is None or not is_installed(module_of))


def _installed_name(value: Any) -> str:
    """Where a thing that has no readable content stands in an installed package; empty if it does not."""
    module = sys.modules.get(str(getattr(value, "__module__", "")))
    name = str(getattr(value, "__name__", ""))
    if module is not None and is_installed(module) and vars(module).get(name) is value:
        return f"{module.__name__}.{name}"
    module = sys.modules.get(type(value).__module__)
    if module is None or not is_installed(module):
        return ""
    names = [name for name, part in list(vars(module).items()) if part is value]
    return f"{module.__name__}.{names[0]}" if names else ""


def _is_plain_class(kind: type) -> bool:
    """Whether instances keep all that they have in attributes: nothing below the class is written in C."""
    return kind is not object and all(
        base is object or _is_own(base) or _name(base) in ("typing.Generic", "typing.Protocol", "abc.ABC")
        for base in kind.__mro__
    )


def _class_content(kind: type) -> dict[str, Any]:
    if issubclass(kind, Enum):
        methods = {n: part for n, part in vars(kind).items() if isinstance(part, types.FunctionType)}
        return {name: member.value for name, member in kind.__members__.items()} | methods
    left_out = _CLASS_NOISE | _generated_by_dataclass(kind)
    descriptors = (types.MemberDescriptorType, types.GetSetDescriptorType)
    return {
        n: part for n, part in vars(kind).items() if n not in left_out and not isinstance(part, descriptors)
    }


def _generated_by_dataclass(kind: type) -> set[str]:
    if not dataclasses.is_dataclass(kind):
        return set()
    names = (
        "__init__ __repr__ __eq__ __lt__ __le__ __gt__ __ge__ __hash__ __setattr__ __delattr__ __replace__"
    )
    found = {name: vars(kind).get(name) for name in (*names.split(), "__getstate__", "__setstate__")}
    return {name for name, method in found.items() if not _written_in(method, kind)}


def _written_in(method: Any, kind: type) -> bool:
    """Whether a method stands in the source of a class, and was not made by the decorator."""
    code: Any = getattr(method, "__code__", None)
    installed = [dataclasses.__file__, functools.__file__, "<string>"]
    wrapped: Any = getattr(getattr(method, "__wrapped__", None), "__code__", code)
    return code is not None and code.co_filename not in installed and wrapped.co_filename not in installed


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _imported(
    codes: list[types.CodeType], names: set[str], namespace: Mapping[str, Any]
) -> list[types.ModuleType]:
    """Modules from outside of the installed packages that code imports when it is run; they are imported here."""
    wanted = {
        instruction.argval
        for code in codes
        for instruction in dis.get_instructions(code)
        if instruction.opname == "IMPORT_NAME"
    }
    package = str(namespace.get("__package__") or "").split(".")
    above = [".".join(package[:length]) for length in range(len(package), 0, -1)]
    absolute = {f"{prefix}.{name}".rstrip(".") for name in wanted for prefix in ("", *above)}
    found = {}
    for name in sorted(name.lstrip(".") for name in absolute):
        module = _import_own(name)
        if module is None:
            continue
        found[module.__name__] = module
        if hasattr(module, "__path__"):
            parts = (_import_own(f"{name}.{part}") for part in sorted(names - vars(module).keys()))
            found |= {part.__name__: part for part in parts if part is not None}
    return [found[name] for name in sorted(found)]


def _import_own(name: str) -> types.ModuleType | None:
    """A module from outside of the installed packages, None for others and where there is none."""
    top = name.partition(".")[0]
    if not top or top in sys.builtin_module_names:
        return None
    try:
        spec = getattr(sys.modules.get(top), "__spec__", None) or importlib.util.find_spec(top)
        if spec is None:
            return None
        probe = types.ModuleType(top)
        probe.__spec__, probe.__file__ = spec, spec.origin
        if is_installed(probe) or importlib.util.find_spec(name) is None:
            return None
        return importlib.import_module(name)
    except Exception:
        return None  # the function will meet the same when it imports it
