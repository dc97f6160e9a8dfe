/** Where an upload is wrong. */
export interface UploadFault {
  /** From 1. Absent: it is the upload as a whole. */
  line: number | undefined;
  /** The field in the line's JSON. */
  path: (string | number)[];
  reason: string;
}

/** An upload that is refused because of what it contains. */
export class UploadError extends Error {
  readonly fault: UploadFault;

  constructor(fault: UploadFault) {
    super(fault.line === undefined ? fault.reason : `line ${fault.line}: ${describe(fault)}`);
    this.name = "UploadError";
    this.fault = fault;
  }
}

function describe({ path, reason }: UploadFault): string {
  return path.length === 0 ? reason : `${path.join(".")}: ${reason}`;
}
