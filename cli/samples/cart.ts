export interface CartItem {
  name: string;
  price: number;
  quantity: number;
}

export function totalPrice(items: CartItem[]): number {
  return items.reduce((total, item) => , 0);
}

export function countItems(items: CartItem[]): number {
  return items.reduce((count, item) => count + item.quantity, 0);
}
