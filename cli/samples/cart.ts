export interface CartItem {
  name: string;
  price: number;
  quantity: number;
}

export function totalPrice(items: CartItem[]): number {
  return items.reduce((total, item) => total + item.price * item.quantity, 0);
}

export function countArticles(items: CartItem[]): number {
  return items.reduce((count, item) => , 0);
}

export function receipt(items: CartItem[]): string {
  const lines = items.map((item) => `${item.quantity} x ${item.name}`);
  return [...lines, `${countArticles(items)} articles: ${totalPrice(items)}`].join("\n");
}
