import { createHash } from "node:crypto";
import type { ImportPreviewQuery } from "@presage/contract";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import type { ReadSample } from "../formats.ts";

/** Which share of the groups of samples is for what. The others train. */
export interface Split {
  /** `trajectory`, `task` or `tag:NAME`. */
  by: string;
  test: number;
  calibration: number;
}

const defaultTest = 0.2;

/** Undefined if no split is asked for. */
export function readSplit({ split_by, test, calibration }: ImportPreviewQuery): Split | undefined {
  const given = test === undefined ? "calibration" : "test";
  if (split_by === undefined) {
    if (test === undefined && calibration === undefined) return undefined;
    throw new InvalidRequestError([valueError(["query", given], "It needs `split_by`")]);
  }
  const split = { by: split_by, test: Number(test ?? defaultTest), calibration: Number(calibration ?? 0) };
  if (split.test + split.calibration <= 1) return split;
  throw new InvalidRequestError([valueError(["query", given], "The shares are more than 1 together")]);
}

/** A sample's side: by a hash of its group's name, so that a later upload keeps it. */
export function splitOf(sample: ReadSample, { by, test, calibration }: Split, salt: string): string {
  const named = by.startsWith("tag:") ? sample.tags?.[by.slice("tag:".length)] : undefined;
  const task = by === "task" ? (sample.tags?.task ?? sample.context?.task_context) : undefined;
  const group = named ?? task ?? sample.trajectory_id;
  const hash = createHash("sha256").update(`${salt}\n${group}`).digest();
  const place = hash.readUInt32BE() / 2 ** 32;
  if (place < test) return "test";
  return place < test + calibration ? "calibration" : "train";
}
