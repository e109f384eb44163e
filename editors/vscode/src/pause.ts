// A pause of suggestions in this window. It ends by itself at a point in time.

export class Pause {
  private until: number | null = null;

  constructor(private readonly now: () => number = Date.now) {}

  /** @param minutes Infinity: until it is ended */
  start(minutes: number): void {
    this.until = this.now() + minutes * 60_000;
  }

  end(): void {
    this.until = null;
  }

  get isOn(): boolean {
    return this.until !== null && this.now() < this.until;
  }

  /** Whether a pause was started and its time is over. */
  get isOver(): boolean {
    return this.until !== null && this.now() >= this.until;
  }

  /** Remaining minutes, rounded up. */
  get minutesLeft(): number {
    return this.until === null ? 0 : Math.max(0, Math.ceil((this.until - this.now()) / 60_000));
  }
}
