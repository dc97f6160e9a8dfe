import { ServiceError } from "../../errors.ts";

export function noSuchRevision(): ServiceError {
  return new ServiceError("not_found", "There is no such revision of an error taxonomy.");
}
