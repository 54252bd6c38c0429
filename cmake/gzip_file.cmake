# Writes OUTPUT, which is INPUT compressed with gzip. Run with cmake -P.
cmake_minimum_required(VERSION 3.22)
file(ARCHIVE_CREATE OUTPUT ${OUTPUT} PATHS ${INPUT} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
