set(CHAT_HTTP_SOURCES
  chat/http/chat_exchange.cpp
  chat/http/chat_job.cpp
  chat/http/chat_routes.cpp
  chat/http/model_pages.cpp
  chat/http/pull_exchange.cpp
  chat/http/token_requests.cpp
  chat/http/tokenizers.cpp)
