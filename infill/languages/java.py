"""Java: its blocks, placeholders, names and imports."""

from intarsia.infill.languages import ImportRules, NameRules, braces, places, words

_KNOWN = words(
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
_NAMES = NameRules(
    known=_KNOWN,
    identifiers=words("identifier type_identifier"),
    no_uses=words(
        "package_declaration scoped_identifier.name scoped_identifier.scope switch_label"
        " element_value_pair.key"
    ),
    bindings=words(
        "type_parameter variable_declarator.name formal_parameter.name catch_formal_parameter.name"
        " resource.name enhanced_for_statement.name lambda_expression.parameters"
        " inferred_parameters instanceof_expression.name enum_constant.name import_declaration"
        " type_pattern record_pattern_component"
    ),
    own_names=places(
        "name",
        "class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration method_declaration",
    ),
    patterns=words("scoped_identifier.name"),
    first_only=words("scoped_type_identifier method_reference"),
    scopes=words(
        "program class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration method_declaration constructor_declaration block"
        " lambda_expression for_statement enhanced_for_statement try_with_resources_statement"
        " catch_clause"
    ),
    member_of=("field_access", "object"),
)
_HOLES = """
    (method_declaration body: (block) @named) @owner
    (constructor_declaration body: (constructor_body) @function) @owner
    (lambda_expression body: (block) @function) @owner
    [(block) (constructor_body)] @block
"""
_LIBRARY = {
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
_IMPORTS = ImportRules(
    style="dotted",
    module=r"[\w$]+(?:\.[\w$]+)*",
    reserved=words(
        "_ abstract assert boolean break byte case catch char class const continue default do"
        " double else enum extends false final finally float for goto if implements import"
        " instanceof int interface long native new null package private protected public return"
        " short static strictfp super switch synchronized this throw throws transient true try"
        " void volatile while"
    ),
    is_path=True,
    needs_name=True,
    has_aliases=False,
    standard={name: package for package, names in _LIBRARY.items() for name in names.split()},
)

JAVA = braces(
    "java",
    package=r"package [\w.]+;",
    flush_header=r"\bswitch\b",
    typical=(
        r"^\s*(?:public|private|protected|static|final)\b[^:$]*[;{(,]$|^import java[\w.]*;$"
        r"|^(?:package|import) [\w.]+;$|^\s*@Override|\bthrows |\b[A-Z]\w+(?:<.*>)? \w+ = new "
    ),
    holes=_HOLES,
    name_marks="$",
    names=_NAMES,
    imports=_IMPORTS,
    modules="package_folders",
    reach="package",
    type_place="before",
    has_characters=True,
    documentation=("/** ", " */"),
)
