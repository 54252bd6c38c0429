void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
