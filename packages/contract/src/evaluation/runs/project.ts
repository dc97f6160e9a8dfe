import { z } from "zod";
import { defaultPageLimit, pageFields } from "../../query.ts";
import { shortText, storableText } from "../../text.ts";

/** Experiments and results that belong together. */
export const Project = z
  .object({
    id: z.uuid().meta({ description: "Results name it in project_id." }),
    name: z.string().meta({ description: "Unique in the account." }),
    created_by: z.uuid().nullable().meta({ description: "The id of the user who created it." }),
    created_at: z.iso.datetime({ offset: true }).meta({ description: "When it was created." }),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

/** Body of `POST /v1/projects`. The response is the project of this name, which may have existed before. */
export const ProjectCreateRequest = z
  .object({
    name: shortText(200).meta({ description: "If the account has a project of this name, it is returned." }),
  })
  .meta({ id: "ProjectCreateRequest" });
export type ProjectCreateRequest = z.infer<typeof ProjectCreateRequest>;

export const ProjectPath = z.object({
  id: storableText().meta({
    description: "The project's id.",
    examples: ["019aa5f2-7d3c-7000-8a55-0d5f3f1c2b11"],
  }),
});

/** Response of `GET /v1/projects/{id}`. */
export const ProjectResponse = z
  .object({ project: Project.meta({ description: "The project." }) })
  .meta({ id: "ProjectResponse" });
export type ProjectResponse = z.infer<typeof ProjectResponse>;

/** Query of `GET /v1/projects`. */
export const ProjectListQuery = z.object(pageFields(defaultPageLimit));
export type ProjectListQuery = z.infer<typeof ProjectListQuery>;

/** Response of `GET /v1/projects`: the account's projects, newest first. */
export const ProjectListResponse = z
  .object({ projects: z.array(Project).meta({ description: "The projects, newest first." }) })
  .meta({ id: "ProjectListResponse" });
export type ProjectListResponse = z.infer<typeof ProjectListResponse>;
