"""Print what sold best in a table of orders: ``python orders.py orders.csv``."""

import sys

import pandas as pd


def main(path):
    orders = pd.read_csv(path)
    orders["month"] = orders["date"].str[:7]
    orders["revenue"] = orders["price"] * orders["count"]
    sold = orders[orders["status"] == "sold"]
    revenue = sold.groupby(["city", "month"])["revenue"].sum()
    print(revenue.sort_values(ascending=False).head(3).round().to_string())


if __name__ == "__main__":
    main(sys.argv[1])
