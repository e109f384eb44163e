"""Where a name comes from that no file imports yet: the project, or the standard library."""

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from intarsia.infill.imports.binding import DEFAULT, ImportBinding, UnboundName
from intarsia.infill.languages import ECMASCRIPT_IDS, Language, language_for_path
from intarsia.workspace.imports.evidence import Candidate
from intarsia.workspace.imports.module_names import Surroundings
from intarsia.workspace.index.reader import FoundDefinition, IndexReader
from intarsia.workspace.modules.namespaces import MODULE
from intarsia.workspace.modules.rust import module_of, source_folder

MAX_DEFINITIONS = 60

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|testing|examples?|benches)/|[._]test\.|/test_|\.spec\."
)
_DECLARED = (
    r"(?:declare\s+|abstract\s+|async\s+)*"
    r"(?:function\*?|class|const|let|var|enum|type|interface)"
)
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)


def defined_candidates(
    index: IndexReader, around: Surroundings, unbound: UnboundName
) -> list[Candidate]:
    """Return the public definitions of a name in other files, each as a candidate."""
    if around.language.id == "go":
        return list(_go_packages(index, around, unbound))
    found = [
        it
        for it in index.definitions_named(unbound.name, limit=MAX_DEFINITIONS)
        if _may_import(it, around)
    ]
    if len(found) == MAX_DEFINITIONS:
        return []
    places = {_place(it, index, around) for it in found}
    return [
        Candidate(place=place, name=name, local=unbound.name, form="plain")
        for place, name in sorted(it for it in places if it is not None)
    ]


def _may_import(found: FoundDefinition, around: Surroundings) -> bool:
    definition = found.definition
    own_test = _TEST.search(around.path) is not None
    return (
        not definition.container
        and found.path != around.path
        and is_same(language_for_path(found.path), around.language)
        and (own_test or _TEST.search(found.path) is None)
        and definition.kind in ("class", "function", "constant", "type")
        and not definition.name.startswith("_")
    )


def is_same(one: Language, other: Language) -> bool:
    """Whether files of two languages import from each other."""
    return one.id == other.id or (one.id in ECMASCRIPT_IDS and other.id in ECMASCRIPT_IDS)


def _place(
    found: FoundDefinition, index: IndexReader, around: Surroundings
) -> tuple[str, str] | None:
    """Return the place and the name there, None where a definition is not public."""
    name, path, language = found.definition.name, found.path, around.language
    if language.id == "python":
        place = path.removesuffix(".pyi").removesuffix(".py").removesuffix("/__init__")
        return place, name
    if language.id in ECMASCRIPT_IDS:
        exported = _exported(index.read(path) or "", name)
        return None if exported is None else (path, exported)
    if language.id == "java":
        package = _PACKAGE.search(index.read(path) or "")
        is_public = found.definition.signature.startswith("public ")
        return (package[1], name) if package and is_public else None
    return _rust_place(found, around)


def _rust_place(found: FoundDefinition, around: Surroundings) -> tuple[str, str] | None:
    source = source_folder(found.path, around.files)
    if source != source_folder(around.path, around.files):
        return None
    is_public = re.match(r"(?:#\[.*\] )?pub\b(?!\((?:self|super))", found.definition.signature)
    if not is_public:
        return None
    place = "::".join(["crate", *module_of(found.path, source)])
    return place, found.definition.name


def _exported(text: str, name: str) -> str | None:
    """Return the name under which a module of JavaScript exports a definition, None if none."""
    word = re.escape(name)
    if re.search(rf"^export\s+{_DECLARED}\s+{word}\b", text, re.MULTILINE):
        return name
    if re.search(rf"^export\s*\{{[^}}]*\b{word}\s*[,}}]", text, re.MULTILINE):
        return name
    if re.search(rf"^export\s+default\s+(?:{_DECLARED}\s+)?{word}\b", text, re.MULTILINE):
        return DEFAULT
    return None


def _go_packages(
    index: IndexReader, around: Surroundings, unbound: UnboundName
) -> Iterator[Candidate]:
    """Yield the packages of this name that define the member that is used."""
    if len(unbound.path) < 2:
        return
    found: Sequence[FoundDefinition]
    found = index.definitions_named(unbound.path[1], limit=MAX_DEFINITIONS)
    folders = {posixpath.dirname(it.path) for it in found if it.path.endswith(".go")}
    for folder in sorted(it for it in folders if posixpath.basename(it) == unbound.name):
        for above, text in around.files.config_above(around.path, "go.mod"):
            module = MODULE.search(text)
            if module and folder.startswith(above + "/"):
                place = f"{module[1]}/{folder.removeprefix(above + '/')}"
                yield Candidate(place=place, name="", local=unbound.name, form="plain")
                break


_GO = (
    "bufio bytes cmp context crypto embed errors expvar flag fmt hash html io iter log maps math"
    " mime net os path plugin reflect regexp runtime slices sort strconv strings sync syscall"
    " testing time unicode unique unsafe archive/tar archive/zip compress/bzip2 compress/flate"
    " compress/gzip compress/lzw compress/zlib container/heap container/list container/ring"
    " crypto/aes crypto/cipher crypto/des crypto/dsa crypto/ecdsa crypto/ed25519 crypto/elliptic"
    " crypto/hmac crypto/md5 crypto/rc4 crypto/rsa crypto/sha1 crypto/sha256 crypto/sha512"
    " crypto/subtle crypto/tls crypto/x509 crypto/x509/pkix database/sql database/sql/driver"
    " debug/buildinfo debug/dwarf debug/elf debug/macho debug/pe encoding/ascii85 encoding/asn1"
    " encoding/base32 encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex"
    " encoding/json encoding/pem encoding/xml go/ast go/build go/constant go/doc go/format"
    " go/importer go/parser go/printer go/token go/types hash/adler32 hash/crc32 hash/crc64"
    " hash/fnv hash/maphash image image/color image/draw image/gif image/jpeg image/png io/fs"
    " io/ioutil log/slog log/syslog math/big math/bits math/cmplx mime/multipart"
    " mime/quotedprintable net/http net/http/cookiejar net/http/httptest net/http/httptrace"
    " net/http/httputil net/mail net/netip net/rpc net/rpc/jsonrpc net/smtp net/textproto net/url"
    " os/exec os/signal os/user path/filepath regexp/syntax runtime/debug runtime/trace"
    " sync/atomic testing/fstest testing/iotest testing/quick text/tabwriter text/template/parse"
    " time/tzdata unicode/utf16 unicode/utf8"
)
"""Packages that share their last part with no other: not ``rand``, ``template`` or ``scanner``."""

_GO_MODULES = {path.rpartition("/")[2]: path for path in _GO.split()}

_RUST = {
    "std::collections": "BTreeMap BTreeSet BinaryHeap HashMap HashSet VecDeque",
    "std::rc": "Rc",
    "std::cell": "Cell RefCell OnceCell",
    "std::sync": "Arc Mutex RwLock OnceLock Condvar",
    "std::path": "Path PathBuf",
    "std::time": "Duration Instant SystemTime",
    "std::borrow": "Cow",
    "std::marker": "PhantomData",
    "std::ffi": "CStr CString OsStr OsString",
    "std::num": "NonZeroU32 NonZeroU64 NonZeroUsize",
    "std::str": "FromStr",
    "std::ops": "Deref DerefMut",
    "std": "fs io mem env",
}
_RUST_MODULES = {name: module for module, names in _RUST.items() for name in names.split()}

_JAVA = {
    "java.util": (
        "ArrayDeque ArrayList Arrays BitSet Collection Collections Comparator Deque EnumMap"
        " EnumSet HashMap HashSet Iterator LinkedHashMap LinkedHashSet LinkedList Map"
        " NoSuchElementException Objects Optional OptionalInt OptionalLong PriorityQueue"
        " Properties Queue Random Scanner Set SortedMap SortedSet StringJoiner TreeMap TreeSet UUID"
    ),
    "java.util.stream": "Collectors IntStream LongStream Stream StreamSupport",
    "java.util.concurrent": (
        "Callable CompletableFuture ConcurrentHashMap ConcurrentMap CountDownLatch"
        " ExecutionException Executor ExecutorService Executors TimeUnit"
    ),
    "java.util.concurrent.atomic": "AtomicBoolean AtomicInteger AtomicLong AtomicReference",
    "java.util.function": (
        "BiConsumer BiFunction BinaryOperator BooleanSupplier UnaryOperator IntFunction"
    ),
    "java.io": (
        "BufferedReader BufferedWriter ByteArrayInputStream ByteArrayOutputStream Closeable File"
        " FileInputStream FileNotFoundException FileOutputStream FileReader FileWriter IOException"
        " InputStream InputStreamReader OutputStream OutputStreamWriter PrintStream PrintWriter"
        " Reader Serializable StringReader StringWriter UncheckedIOException Writer"
    ),
    "java.nio.file": "Files Path Paths",
    "java.nio.charset": "Charset StandardCharsets",
    "java.time": "Duration Instant LocalDate LocalDateTime LocalTime ZoneId ZonedDateTime",
    "java.math": "BigDecimal BigInteger",
}
_JAVA_PACKAGES = {name: package for package, names in _JAVA.items() for name in names.split()}

_WITH_NAMES: Mapping[str, Mapping[str, str]] = {"java": _JAVA_PACKAGES, "rust": _RUST_MODULES}


def standard_module(unbound: UnboundName, language: Language) -> ImportBinding | None:
    """Return the import of a standard library that a name means, None where none is sure."""
    name = unbound.name
    if language.id == "python":
        is_module = name in sys.stdlib_module_names and len(unbound.path) > 1
        is_public = is_module and not name.startswith("_")
        return ImportBinding(module=name, name="", local=name) if is_public else None
    if language.id == "go":
        path = _GO_MODULES.get(name)
        return None if path is None else ImportBinding(module=path, name="", local=name)
    module = _WITH_NAMES.get(language.id, {}).get(name)
    return None if module is None else ImportBinding(module=module, name=name, local=name)
