# test_server: the real program on free ports, and clients for each of its transports.
set(support ${CMAKE_CURRENT_LIST_DIR})
add_library(test_server STATIC
  ${support}/chat_dialect.cpp
  ${support}/holdings.cpp
  ${support}/http_client.cpp
  ${support}/live_server.cpp
  ${support}/lossy_proxy.cpp
  ${support}/raw_socket.cpp
  ${support}/raw_websocket.cpp
  ${support}/rpc_client.cpp
  ${support}/stdio_connection.cpp
  ${support}/stream_check.cpp)
target_link_libraries(test_server PUBLIC test_process rkllm_mcp_client PRIVATE cpp_httplib rkllm_mcp_warnings)
add_dependencies(test_server rkllm-mcp rkllm_sim rkllm_sim_1_1_4 rkllm_sim_1_2_0 rkllm_sim_1_2_1b1 rkllm_sim_1_2_3)
