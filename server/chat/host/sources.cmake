set(CHAT_HOST_SOURCES
  chat/host/answer_run.cpp
  chat/host/chat_host.cpp
  chat/host/embedding_maker.cpp
  chat/host/leased_model.cpp
  chat/host/prompt_caches.cpp
  chat/host/turn_maker.cpp
  chat/host/turn_plan.cpp)
