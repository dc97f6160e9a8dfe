export interface Goal {
  readonly text: string;
  readonly measured: string;
  /** Undefined if this run did not measure it. */
  readonly met: boolean | undefined;
}
