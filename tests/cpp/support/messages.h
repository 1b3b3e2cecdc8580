#pragma once

#include <gtest/gtest.h>

#include <string>

namespace testing_support {

/** Checks that `call` throws an `E` whose message holds `part`. */
template <class E, class Call>
void expect_error(const Call& call, const std::string& part) {
  try {
    call();
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
        << "message: " << e.what() << "\nlacks: " << part;
    return;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "an error of another type: " << e.what();
    return;
  }
  ADD_FAILURE() << "nothing was thrown; expected an error with: " << part;
}

}  // namespace testing_support
