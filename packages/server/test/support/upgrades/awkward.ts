/** A text that any quoting, trimming, folding or cutting would damage. */
export const awkward = ` It's 100% "done" \\ -- not é but é 🙂\n\t{"a":[null]} $1 ?  `;
/** A double that is not a round number. */
export const awkwardScore = 0.1 + 0.2;
/** The largest integer up to which a double is exact. */
export const largestNumber = Number.MAX_SAFE_INTEGER;

/** When the rows were written: an hour ago, on an odd microsecond. */
export const writtenAt = Date.now() * 1_000 - 3_600_000_000 + 7;
export const daysOf = (micros: number) => Math.floor(micros / 86_400_000_000);
export const hoursOf = (micros: number) => Math.floor(micros / 3_600_000_000);

/** The ids of rows. They are the same in every database. */
export const idOf = {
  account: "019a0000-0000-7000-8000-000000000001",
  user: "019a0000-0000-7000-8000-000000000002",
  key: "019a0000-0000-7000-8000-000000000003",
  revokedKey: "019a0000-0000-7000-8000-000000000004",
  session: "019a0000-0000-7000-8000-000000000005",
  taxonomy: "019a0000-0000-7000-8000-000000000006",
  taxonomyRevision: "019a0000-0000-7000-8000-000000000007",
  profile: "019a0000-0000-7000-8000-000000000008",
  correction: "019a0000-0000-7000-8000-000000000009",
  project: "019a0000-0000-7000-8000-00000000000a",
  experiment: "019a0000-0000-7000-8000-00000000000b",
  dataset: "019a0000-0000-7000-8000-00000000000c",
  run: "019a0000-0000-7000-8000-00000000000d",
  prediction: "019a0000-0000-7000-8000-00000000000e",
  livePrediction: "019a0000-0000-7000-8000-00000000000f",
  environment: "019a0000-0000-7000-8000-000000000010",
  world: "019a0000-0000-7000-8000-000000000015",
  realityCheck: "019a0000-0000-7000-8000-000000000018",
  goal: "019a0000-0000-7000-8000-000000000016",
  episode: "019a0000-0000-7000-8000-000000000011",
  request: "019a0000-0000-7000-8000-000000000012",
  deletion: "019a0000-0000-7000-8000-000000000013",
  label: "019a0000-0000-7000-8000-000000000016",
  labelSample: "019a0000-0000-7000-8000-000000000017",
  share: "019a0000-0000-7000-8000-000000000041",
  auditEvent: "019a0000-0000-7000-8000-000000000014",
} as const;

/** The key and the session token in the rows, as their owners know them. */
export const liveKey = "psg_key-of-an-earlier-version-0123456789";
export const revokedKey = "psg_revoked-by-an-earlier-version-012345";
