import { ServiceError } from "../../../errors.ts";

export function builtInIsFixed(): ServiceError {
  return new ServiceError("conflict", "An error taxonomy that comes with Presage cannot be changed.");
}
