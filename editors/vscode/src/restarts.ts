// Decides whether a server that has ended is restarted: not if it never started or ends repeatedly.

const MAX_RESTARTS = 4;
const WINDOW_MS = 3 * 60_000;

export class Restarts {
  private ends: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Record an end; return whether to restart. @param wasRunning whether it had started before */
  afterEnd(wasRunning: boolean): boolean {
    const now = this.now();
    this.ends = [...this.ends.filter((end) => now - end < WINDOW_MS), now];
    return wasRunning && this.ends.length <= MAX_RESTARTS;
  }
}
