import unittest

from comparison import difference

CHUNK = '{"jsonrpc":"2.0","id":7,"method":"m","result":{"chunk":{"seq":%d,"delta":"%s"}}}'
END = '{"jsonrpc":"2.0","id":7,"method":"m","result":{"chunk":{"seq":%d,"delta":"%s","end":true},"state":"%s"}}'
PROGRESS = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d,"message":"%s"}}'


class Comparison(unittest.TestCase):
    def same(self, shown, printed):
        self.assertIsNone(difference(shown, printed))

    def different(self, shown, printed):
        self.assertIsNotNone(difference(shown, printed))

    def test_times_memory_ids_and_versions_may_differ(self):
        self.same('{"prefill_time_ms":0.1,"memory_usage_mb":13.5}', '{"prefill_time_ms":12,"memory_usage_mb":1e-2}')
        self.same('{"stream_id":"nbe5sqi1chla55owx9t1y5k9"}', '{"stream_id":"me23syea2ftr4iubwogwhxea"}')
        self.same('{"version":"0.2.0"}', '{"version":"0.3.0"}')

    def test_nothing_else_may(self):
        self.different('{"generate_tokens":2}', '{"generate_tokens":3}')
        self.different('{"code":-32601}', '{"code":-32602}')
        self.different("a", "b")
        self.different("abcdefghijklmnopqrstuvwx", "xbcdefghijklmnopqrstuvwx")  # no id: it has no digit

    def test_a_line_too_few_or_too_many_is_a_difference(self):
        self.different("a\nb", "a")
        self.different("a", "a\nb")

    def test_tokens_may_come_in_one_message_or_in_several(self):
        several = "\n".join([CHUNK % (0, "a"), CHUNK % (1, "b"), END % (2, "", "done")])
        self.same(several, END % (0, "ab", "done"))
        self.same(END % (0, "ab", "done"), several)
        self.same(PROGRESS % (1, "a") + "\n\nevent: message\n" + PROGRESS % (2, "b"), PROGRESS % (2, "ab"))

    def test_but_they_have_to_be_the_same_tokens(self):
        self.different(CHUNK % (0, "a") + "\n" + CHUNK % (1, "b"), CHUNK % (0, "a") + "\n" + CHUNK % (1, "c"))
        self.different(CHUNK % (0, "a") + "\n" + END % (1, "b", "done"), END % (0, "ab", "failed"))

    def test_an_ellipsis_stands_for_anything_in_its_line(self):
        self.same("begins … ends", "begins with this and ends")
        self.different("begins … ends", "begins with this\nand ends")


if __name__ == "__main__":
    unittest.main()
