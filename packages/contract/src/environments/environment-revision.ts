import { z } from "zod";
import { defaultRevisionLimit, nextCursor, numberedPageQuery } from "../query.ts";
import { EnvironmentConfig } from "./environment.ts";

/** One of the states that an environment has had. */
export const EnvironmentRevision = z
  .object({
    revision: z.int().meta({ description: "Counts the environment's changes from 1." }),
    config: EnvironmentConfig.meta({ description: "What it is made of." }),
    created_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .meta({ description: "When it was made. Null if it is built in." }),
  })
  .meta({ id: "EnvironmentRevision" });
export type EnvironmentRevision = z.infer<typeof EnvironmentRevision>;

/** Query of `GET /v1/environments/{name}/revisions`. */
export const EnvironmentRevisionListQuery = z.object(
  numberedPageQuery({ noun: "revisions", default: defaultRevisionLimit, first: 1 }),
);
export type EnvironmentRevisionListQuery = z.infer<typeof EnvironmentRevisionListQuery>;

/** Response of `GET /v1/environments/{name}/revisions`. */
export const EnvironmentRevisionListResponse = z
  .object({
    data: z.array(EnvironmentRevision).meta({ description: "The revisions, the highest number first." }),
    next: nextCursor,
  })
  .meta({ id: "EnvironmentRevisionListResponse" });
export type EnvironmentRevisionListResponse = z.infer<typeof EnvironmentRevisionListResponse>;
