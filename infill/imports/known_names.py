"""Names that a language knows without an import."""

import builtins
from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PYTHON = frozenset(dir(builtins)) | _words(
    "__name__ __file__ __doc__ __path__ __spec__ __package__ __loader__ __builtins__"
    " __annotations__ __class__ __module__ __qualname__ reveal_type self cls _"
)

_ECMASCRIPT = _words(
    "AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean"
    " DataView Date Error EvalError FinalizationRegistry Float32Array Float64Array Function"
    " Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object"
    " Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol"
    " SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray"
    " WeakMap WeakRef WeakSet arguments async await clearImmediate clearInterval clearTimeout"
    " console decodeURI decodeURIComponent document encodeURI encodeURIComponent escape eval"
    " exports globalThis global isFinite isNaN module parseFloat parseInt queueMicrotask"
    " require self setImmediate setInterval setTimeout structuredClone undefined unescape"
    " window __dirname __filename any bigint boolean never number object string symbol unknown"
    " void this const Awaited Capitalize ConstructorParameters Exclude Extract InstanceType"
    " Iterable IterableIterator Lowercase NonNullable Omit Parameters Partial Pick PromiseLike"
    " Readonly ReadonlyArray ReadonlyMap ReadonlySet Record Required ReturnType"
    " TemplateStringsArray ThisParameterType Uncapitalize Uppercase AsyncIterable"
    " AsyncIterator AsyncGenerator Generator ArrayLike PropertyKey"
)

_GO = _words(
    "any append bool byte cap clear close comparable complex complex128 complex64 copy delete"
    " error false float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil"
    " panic print println real recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
    " _"
)

_JAVA = _words(
    "AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException"
    " ArrayStoreException AssertionError AutoCloseable Boolean Byte CharSequence Character Class"
    " ClassCastException ClassLoader ClassNotFoundException CloneNotSupportedException Cloneable"
    " Comparable Deprecated Double Enum Error Exception ExceptionInInitializerError Float"
    " FunctionalInterface IllegalAccessError IllegalAccessException IllegalArgumentException"
    " IllegalMonitorStateException IllegalStateException IllegalThreadStateException"
    " IndexOutOfBoundsException InheritableThreadLocal InstantiationException Integer"
    " InternalError InterruptedException Iterable LinkageError Long Math ModuleLayer"
    " NegativeArraySizeException NoClassDefFoundError NoSuchFieldError NoSuchFieldException"
    " NoSuchMethodError NoSuchMethodException NullPointerException Number NumberFormatException"
    " Object OutOfMemoryError Override Package Process ProcessBuilder ProcessHandle Readable"
    " Record ReflectiveOperationException Runnable Runtime RuntimeException SafeVarargs"
    " SecurityException SecurityManager Short StackOverflowError StackTraceElement StackWalker"
    " StrictMath String StringBuffer StringBuilder StringIndexOutOfBoundsException"
    " SuppressWarnings System Thread ThreadDeath ThreadGroup ThreadLocal Throwable"
    " TypeNotPresentException UnsupportedClassVersionError UnsupportedOperationException"
    " VerifyError VirtualMachineError Void var this super"
)

_RUST = _words(
    "AsMut AsRef Box Clone Copy Debug Default DoubleEndedIterator Drop Eq Err"
    " ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Hash Into IntoIterator Iterator"
    " None Ok Option Ord PartialEq PartialOrd Result Self Send Sized Some String Sync ToOwned"
    " ToString TryFrom TryInto Unpin Vec _ alloc assert assert_eq assert_ne bool cfg char column"
    " compile_error concat core crate dbg debug_assert debug_assert_eq debug_assert_ne drop env"
    " eprint eprintln f32 f64 file format format_args i128 i16 i32 i64 i8 include include_bytes"
    " include_str isize line macro_rules matches module_path option_env panic print println self"
    " std str stringify super thread_local todo u128 u16 u32 u64 u8 unimplemented unreachable"
    " usize vec write writeln"
)

KNOWN: Mapping[str, frozenset[str]] = {
    "python": _PYTHON,
    "javascript": _ECMASCRIPT,
    "javascriptreact": _ECMASCRIPT,
    "typescript": _ECMASCRIPT,
    "typescriptreact": _ECMASCRIPT,
    "go": _GO,
    "java": _JAVA,
    "rust": _RUST,
}
"""By the language's id. Names that only browsers know are not here: projects also import such."""
