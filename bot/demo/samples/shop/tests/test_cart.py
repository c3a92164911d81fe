import unittest

from shop.cart import Line, total


class CartTest(unittest.TestCase):
    def test_an_empty_cart_costs_nothing(self):
        self.assertEqual(total([]), 0)

    def test_lines_add_up(self):
        self.assertEqual(total([Line("tea", 250), Line("cup", 799)]), 1049)


if __name__ == "__main__":
    unittest.main()
