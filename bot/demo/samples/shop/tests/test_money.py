import unittest

from shop.money import show


class MoneyTest(unittest.TestCase):
    def test_cents_have_two_places(self):
        self.assertEqual(show(1250), "12.50")

    def test_small_change(self):
        self.assertEqual(show(5), "0.05")


if __name__ == "__main__":
    unittest.main()
