// Whether a server that has ended is started again: not one that does not start, nor ends over and over.

const MAX_RESTARTS = 4;
const WINDOW_MS = 3 * 60_000;

export class Restarts {
  private ends: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Take note of an end; return whether to start it again. @param wasRunning it had started before */
  afterEnd(wasRunning: boolean): boolean {
    const now = this.now();
    this.ends = [...this.ends.filter((end) => now - end < WINDOW_MS), now];
    return wasRunning && this.ends.length <= MAX_RESTARTS;
  }
}
