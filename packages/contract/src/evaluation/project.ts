import { z } from "zod";
import { nextCursor, pageFields } from "../query.ts";
import { boundedObject, instant, shortText, storableText, string } from "../text.ts";
import { newTags } from "./result.ts";

/** Experiments and results that belong together. */
export const Project = z
  .object({
    id: z.uuid().meta({ description: "Results name it in project_id." }),
    name: string("Unique in the account."),
    created_by: z.uuid().nullable().meta({ description: "The id of the user who created it." }),
    created_at: instant.meta({ description: "When it was created." }),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

/** Body of `POST /v1/projects`. The response is the project of this name, which may have existed before. */
export const ProjectCreateRequest = z
  .object({
    name: shortText(200).meta({ description: "If the account has a project of this name, it is returned." }),
  })
  .meta({ id: "ProjectCreateRequest" });

/** Path of `/v1/projects/{id}`. */
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
export const ProjectListQuery = z.object(pageFields());

/** Response of `GET /v1/projects`: the account's projects, newest first. */
export const ProjectListResponse = z
  .object({ projects: z.array(Project).meta({ description: "The projects, newest first." }) })
  .meta({ id: "ProjectListResponse" });
export type ProjectListResponse = z.infer<typeof ProjectListResponse>;

const newMetadata = boundedObject(65_536, "An experiment's metadata");

/** Results in a project, made by a client that evaluates a dataset. */
export const Experiment = z
  .object({
    id: z.uuid().meta({ description: "Results name it in experiment_id." }),
    project_id: z.uuid().meta({ description: "The project that it belongs to." }),
    name: string("Several experiments may have the same name."),
    tags: z.record(z.string(), z.string()).nullable().meta({ description: "Texts by name, as given." }),
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "Any JSON object, as given." }),
    created_at: instant.meta({ description: "When it was created." }),
  })
  .meta({ id: "Experiment" });
export type Experiment = z.infer<typeof Experiment>;

/** Body of `POST /v1/experiments`. */
export const ExperimentCreateRequest = z
  .object({
    project_id: shortText(200).meta({ description: "The id of a project of the account." }),
    name: shortText(200).meta({ description: "Several experiments may have the same name." }),
    tags: newTags,
    metadata: newMetadata.nullish().meta({ description: "Any JSON object of up to 64 KiB." }),
  })
  .meta({ id: "ExperimentCreateRequest" });
export type ExperimentCreateRequest = z.infer<typeof ExperimentCreateRequest>;

/** Body of `POST /v1/experiments/{id}`. */
export const ExperimentUpdateRequest = z
  .object({ metadata: newMetadata })
  .meta({ id: "ExperimentUpdateRequest" });
export type ExperimentUpdateRequest = z.infer<typeof ExperimentUpdateRequest>;

/** Path of `/v1/experiments/{id}`. */
export const ExperimentPath = z.object({
  id: storableText().meta({
    description: "The experiment's id.",
    examples: ["019aa5f3-1b42-7000-9d1e-6a0c4f7e8d22"],
  }),
});

/** Response of getting, creating and updating an experiment. */
export const ExperimentResponse = z
  .object({ experiment: Experiment.meta({ description: "The experiment." }) })
  .meta({ id: "ExperimentResponse" });
export type ExperimentResponse = z.infer<typeof ExperimentResponse>;

/** Query of `GET /v1/experiments`. */
export const ExperimentListQuery = z.object({
  project_id: storableText().optional().meta({ description: "Only this project's experiments." }),
  ...pageFields(),
});

/** Response of `GET /v1/experiments`: the account's experiments, newest first. */
export const ExperimentListResponse = z
  .object({ experiments: z.array(Experiment).meta({ description: "The experiments, newest first." }) })
  .meta({ id: "ExperimentListResponse" });
export type ExperimentListResponse = z.infer<typeof ExperimentListResponse>;

/** Query of `GET /v1/apps`. */
export const AppListQuery = z.object({
  ...pageFields(),
  after: storableText().optional().meta({
    description:
      "The last name of the previous page. Unlike `offset`, it stays fast however many apps there are.",
  }),
});

/** Response of `GET /v1/apps`: the apps that have results, sorted by code point. */
export const AppListResponse = z
  .object({
    apps: z
      .array(z.object({ name: string("The app's name, as in results.") }))
      .meta({ description: "The apps." }),
    next: nextCursor,
  })
  .meta({ id: "AppListResponse" });
export type AppListResponse = z.infer<typeof AppListResponse>;
