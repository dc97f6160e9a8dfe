import type { LoadRequest, TargetName } from "../targets/target.ts";

export interface RunningTarget {
  readonly name: TargetName;
  readonly pid: number;
  readonly request: LoadRequest;
}
