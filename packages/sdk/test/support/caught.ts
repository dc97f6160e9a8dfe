import { PresageError } from "../../src/presage-error.ts";

/** The `PresageError` that a call rejects with. */
export async function caught(call: Promise<unknown>): Promise<PresageError> {
  const error = await reasonOf(call);
  if (error instanceof PresageError) return error;
  throw new Error("The call failed with something else.", { cause: error });
}

/** The reason that a call rejects with. */
export async function reasonOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("The call did not fail.");
}
