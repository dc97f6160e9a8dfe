export interface Goal {
  readonly text: string;
  readonly measured: string;
  /** Undefined when this run did not measure it. */
  readonly met: boolean | undefined;
}
