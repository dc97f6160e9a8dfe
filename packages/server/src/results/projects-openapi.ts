import {
  Project,
  ProjectCreateRequest,
  ProjectListQuery,
  ProjectListResponse,
  ProjectPath,
  ProjectResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, idempotencyHeader, noSuch, operation, response } from "../http/describe.ts";

const tag = "experiments";
export const exampleProject: Project = {
  id: "019aa5f2-7d3c-7000-8a55-0d5f3f1c2b11",
  name: "ScienceWorld",
  created_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  created_at: "2026-11-22T03:46:48.004Z",
};

export const projectPaths: ZodOpenApiPathsObject = {
  "/v1/projects": {
    get: operation("listProjects", tag, "List the account's projects", {
      description: "Returns the account's projects, newest first.",
      requestParams: { query: ProjectListQuery },
      responses: {
        "200": response("The projects, newest first", ProjectListResponse, { projects: [exampleProject] }),
      },
    }),
    post: operation("createProject", tag, "Create a project, or get the one of this name", {
      description:
        "Creates a project. If the account already has a project of this name, that one is returned, so that a client can send the same request before every experiment.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ProjectCreateRequest, { name: exampleProject.name }),
      responses: {
        "200": response("The project that already had this name", Project, exampleProject),
        "201": response("The new project", Project, exampleProject),
      },
    }),
  },
  "/v1/projects/{id}": {
    get: operation("getProject", tag, "Show a project", {
      description: "Returns one project of the account.",
      requestParams: { path: ProjectPath },
      responses: {
        "200": response("The project", ProjectResponse, { project: exampleProject }),
        ...noSuch("project"),
      },
    }),
  },
};
