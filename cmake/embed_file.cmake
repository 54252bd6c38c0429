# Writes OUTPUT, a C++ file that defines SYMBOL as the bytes of INPUT. Run with cmake -P.
file(READ ${INPUT} hex HEX)
# As characters: a number above 127 does not fit into a char where it has a sign.
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
string(REGEX REPLACE "('.x..','.x..','.x..','.x..','.x..','.x..','.x..','.x..','.x..','.x..','.x..','.x..',)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${SYMBOL}.hpp\"\nnamespace rkllm_mcp {\nstatic constexpr char ${SYMBOL}Bytes[] = {\n${bytes}0};\nextern const std::string_view ${SYMBOL}{${SYMBOL}Bytes, sizeof ${SYMBOL}Bytes - 1};\n}\n")
