// The names that C allows and generated code cannot declare (rules.hpp).
#include "check/rules.hpp"

#include "check/system_macros.hpp"

#include <regex>
#include <sstream>
#include <unordered_set>

namespace bindgen {
namespace {

using Words = std::unordered_set<std::string>;

Words words(const char* text) {
  std::istringstream in(text);
  Words found;
  for (std::string word; in >> word;) found.insert(word);
  return found;
}

// Those that C++17 has as well stop clang where it reads a header as C++, but not where it reads it as C.
constexpr const char* kWordsOfCpp20 =
    "char8_t co_await co_return co_yield concept consteval constinit requires alignas alignof and and_eq asm bitand "
    "bitor "
    "bool catch char16_t char32_t class compl const_cast constexpr decltype delete dynamic_cast explicit export false "
    "friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "reinterpret_cast static_assert static_cast template this thread_local throw true try typeid typename using "
    "virtual "
    "wchar_t xor xor_eq";

// Of the standard headers of C, and of those of this system that come with them; large families are left to kFamilies.
constexpr const char* kMacros =
    "assert BIG_ENDIAN BUFSIZ BYTE_ORDER CHAR_BIT CHAR_MAX CHAR_MIN CLOCKS_PER_SEC DBL_DECIMAL_DIG DBL_DIG "
    "DBL_EPSILON DBL_HAS_SUBNORM DBL_MANT_DIG DBL_MAX DBL_MAX_10_EXP DBL_MAX_EXP DBL_MIN DBL_MIN_10_EXP "
    "DBL_MIN_EXP DBL_TRUE_MIN DECIMAL_DIG E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY "
    "EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED "
    "ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN "
    "EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED "
    "EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP "
    "EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE "
    "ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET "
    "ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE "
    "ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO "
    "EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS errno ESHUTDOWN "
    "ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH "
    "EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE EXIT_SUCCESS F_OK FILENAME_MAX FLT_DECIMAL_DIG FLT_DIG "
    "FLT_EPSILON FLT_EVAL_METHOD FLT_HAS_SUBNORM FLT_MANT_DIG FLT_MAX FLT_MAX_10_EXP FLT_MAX_EXP FLT_MIN "
    "FLT_MIN_10_EXP FLT_MIN_EXP FLT_RADIX FLT_ROUNDS FLT_TRUE_MIN FOPEN_MAX FP_ILOGB0 FP_ILOGBNAN FP_INFINITE "
    "FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO fpclassify HUGE_VAL HUGE_VALF HUGE_VALL INFINITY INT_MAX INT_MIN "
    "isalnum isalpha isblank iscntrl isdigit isfinite isgraph isgreater isgreaterequal isinf isless islessequal "
    "islessgreater islower isnan isnormal isprint ispunct isspace isunordered isupper isxdigit L_tmpnam "
    "LC_ADDRESS LC_ALL LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME "
    "LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME LDBL_DECIMAL_DIG LDBL_DIG LDBL_EPSILON LDBL_HAS_SUBNORM "
    "LDBL_MANT_DIG LDBL_MAX LDBL_MAX_10_EXP LDBL_MAX_EXP LDBL_MIN LDBL_MIN_10_EXP LDBL_MIN_EXP LDBL_TRUE_MIN "
    "linux LITTLE_ENDIAN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN MATH_ERREXCEPT math_errhandling MATH_ERRNO "
    "MB_CUR_MAX MB_LEN_MAX NAN NULL offsetof PTRDIFF_MAX PTRDIFF_MIN R_OK RAND_MAX SCHAR_MAX SCHAR_MIN SEEK_CUR "
    "SEEK_END SEEK_SET SHRT_MAX SHRT_MIN SIG_ATOMIC_MAX SIG_ATOMIC_MIN signbit SIZE_MAX stderr STDERR_FILENO "
    "stdin STDIN_FILENO stdout STDOUT_FILENO TIME_UTC TMP_MAX UCHAR_MAX UINT_MAX ULLONG_MAX ULONG_MAX unix "
    "USHRT_MAX va_arg va_copy va_end va_start W_OK WCHAR_MAX WCHAR_MIN WEOF WINT_MAX WINT_MIN X_OK";
constexpr const char* kFamilies =
    "(PRI|SCN)[diouxX](LEAST|FAST)?(8|16|32|64|MAX|PTR)"
    "|U?INT(_LEAST|_FAST)?(8|16|32|64)_(MAX|MIN|WIDTH)|U?INT(MAX|PTR)_(MAX|MIN|WIDTH)|U?INT(8|16|32|64|MAX)_C";

// What generated code calls by its bare name: of the support headers, and its own.
constexpr const char* kNames =
    "Abi AbiSet AtEnd Binding BoundLibrary CallContext Codec ConstantFact DeclarationFact Decoder Elsewhere Encoder "
    "Encoding EnumName Exactly Fact FieldFact FileUse Functions HandleRecord HandleRole HandleValue Json Method "
    "MultipleOf "
    "Of OneOf RecordFact Result ResultSink SameLengthAs State StateRole StreamEvent StreamToken Stub "
    "SymbolLookup TypeTag VersionedText Whole WholeOf adopt_handle any_version await_end bind by_pointer_size "
    "counted_by "
    "choice default_of deliver elsewhere encode enum_fact factor filled fill_undefined fill_undefined_cpu_mask "
    "find_functions find_symbol floats_to_json from_version kAbiSet kAbiSets kElsewhere kEmptyIfAbsent kFacts "
    "kMethods kNullable kOptional kRequired kStandsFor kStubs kVersions lend_rows members names_of number_to_json "
    "out_array "
    "out_room remember require_bits reply_to_predicate reply_to_status require_value set_wire_defaults std "
    "stream_token tell_changed tell_chosen tell_out_room tell_out_value text_of up_to_version";
// What it makes of the names of declarations.
constexpr const char* kMadeNames =
    "k(Declaration|Description|Elsewhere|Fields|Input|Method|Needed|Output|Params|ToolInput|ToolOutput)_.*"
    "|bits_of_.*|deliver_.*|k.+Names";

// What hides a type in a stub, before the type is named there.
constexpr const char* kParams = "call functions params";
// What a stub calls by its bare name, whatever the function is like.
constexpr const char* kInStubs =
    "Abi AtEnd CallContext Decoder Encoder Encoding Exactly FileUse Functions Json MultipleOf SameLengthAs "
    "adopt_handle "
    "await_end counted_by fill_undefined floats_to_json from_version kEmptyIfAbsent kNullable kOptional kRequired "
    "number_to_json out_array out_room reply_to_predicate reply_to_status require_value set_wire_defaults std "
    "tell_changed tell_chosen tell_out_room tell_out_value";
// What is a variable or a member anywhere, and would be meant where an enumerator is.
constexpr const char* kVariables =
    "batch call codec encoder encoding entry free_rows free_value functions handle idle lookup params replaces_token "
    "reply result rows sink states token value values";

}  // namespace

bool is_word_of_cpp20(const std::string& name) {
  static const Words kWords = words(kWordsOfCpp20);
  return kWords.count(name) != 0;
}

bool is_macro_of_c(const std::string& name) {
  static const Words kNamed = words(kMacros);
  static const Words kOfSystem = words(kSystemMacros);
  static const std::regex kInFamilies(kFamilies + std::string("|") + kSystemFamilies);
  return kNamed.count(name) != 0 || kOfSystem.count(name) != 0 || std::regex_match(name, kInFamilies);
}

bool is_of_generated_code(const std::string& name, Declares declares) {
  static const Words kOwn = words(kNames);
  static const Words kOfStubs = words(kParams);
  static const Words kAnywhere = words(kVariables);
  static const Words kInAnyStub = words(kInStubs);
  static const std::regex kMade(kMadeNames);
  if (declares == Declares::kParam) return kInAnyStub.count(name) != 0 || name.starts_with("kNeeded_");
  if (kOwn.count(name) != 0 || std::regex_match(name, kMade)) return true;
  switch (declares) {
    case Declares::kFunction:
    case Declares::kParam: return false;
    case Declares::kType: return kOfStubs.count(name) != 0;
    case Declares::kConstant: return kAnywhere.count(name) != 0;
  }
  return false;
}

}  // namespace bindgen
