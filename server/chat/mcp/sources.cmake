set(CHAT_MCP_SOURCES
  chat/mcp/chat_call.cpp
  chat/mcp/chat_tools.cpp
  chat/mcp/conversations.cpp
  chat/mcp/kept_responses.cpp
  chat/mcp/model_choice.cpp
  chat/mcp/tool_words.cpp
  chat/mcp/turn_failure.cpp)
