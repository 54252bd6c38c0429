set(PAGE_SOURCES
  page/page.cpp)
