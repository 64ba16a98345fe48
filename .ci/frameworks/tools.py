"""The tools of all agents."""

QUERY = "Refund my orders."


def get_order(order_id: str) -> str:
    """Look an order up."""
    return f"order {order_id}: 12.50 EUR"


def refund(order_id: str, amount: float) -> str:
    """Refund an order."""
    raise ValueError(f"{order_id} was refunded already")
