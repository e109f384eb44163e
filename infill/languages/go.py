"""Go: its blocks, placeholders, names and imports."""

from msgspec.structs import replace

from intarsia.infill.languages import NO_SEMICOLON, ImportRules, NameRules, braces, places, words

_KNOWN = words(
    "any append bool byte cap clear close comparable complex complex128 complex64 copy delete"
    " error false float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil"
    " panic print println real recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
    " _"
)
_NAMES = NameRules(
    known=_KNOWN,
    identifiers=words("identifier package_identifier type_identifier"),
    only_uses=words("selector_expression.operand qualified_type.package"),
    bindings=words(
        "parameter_declaration.name variadic_parameter_declaration.name short_var_declaration.left"
        " range_clause.left type_switch_statement.alias var_spec.name const_spec.name"
        " receive_statement.left function_declaration.name type_spec.name type_alias.name"
        " type_parameter_declaration.name import_spec.name"
    ),
    own_names=words("function_declaration.name"),
    patterns=words("expression_list"),
    scopes=words(
        "source_file function_declaration method_declaration func_literal block if_statement"
        " for_statement expression_switch_statement type_switch_statement expression_case"
        " default_case type_case communication_case select_statement"
    ),
    member_of=("selector_expression", "operand"),
    members=places("name", "field_declaration method_declaration method_elem"),
)
_HOLES = """
    (function_declaration body: (block) @named) @owner
    (method_declaration body: (block) @named) @owner
    (func_literal body: (block) @function) @owner
    (block) @block
"""
_LIBRARY = (
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
_IMPORTS = ImportRules(
    style="quoted",
    may_be_circular=False,
    module=r"[A-Za-z0-9_.~/+-]+",
    reserved=words(
        "break case chan const continue default defer else fallthrough for func go goto if import"
        " interface map package range return select struct switch type var"
    ),
    standard={path.rpartition("/")[2]: path for path in _LIBRARY.split()},
)

GO = braces(
    "go",
    package=r"package \w+",
    aliases=("golang",),
    flush_header=r"\b(?:switch|select)\b",
    typical=r"^package \w+$|^func |:= |^\s*if err != nil|^import \($|\bchan |^type \w+ struct",
    holes=_HOLES,
    names=_NAMES,
    imports=_IMPORTS,
    modules="go_mod",
    reach="folder",
    type_place="blank",
    has_characters=True,
    stub=replace(NO_SEMICOLON, indent="\t", are_methods_outside=True),
    documentation=("// {name} ", ""),
)
