"""The standard libraries: modules that a name means where the project says nothing else."""

import sys
from collections.abc import Mapping

from intarsia.infill.imports.binding import ImportBinding, UnboundName
from intarsia.infill.languages import Language

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
