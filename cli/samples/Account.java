/** A bank account that never goes below zero. */
public class Account {
    private final String owner;
    private long balance;

    public Account(String owner) {
        this.owner = owner;
        this.balance = 0;
    }

    public void deposit(long amount) {
        if (amount <= 0) {
            throw new IllegalArgumentException("The amount must be positive: " + amount);
        }
        balance += amount;
    }

    public void withdraw(long amount) {
        if () {
            throw new IllegalStateException("Not enough money: " + balance);
        }
        balance -= amount;
    }
}
