set(PAGE_SOURCES
  page/web_page.cpp)
