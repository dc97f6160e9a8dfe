import type { TaskLine, TaskSplitName } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetsQuery } from "../../../data/datasets.ts";
import { useAddTasks } from "../../../data/environments.ts";
import { counted } from "../../../format/numbers.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { SelectField, TextAreaField, TextField } from "../../../ui/form/fields.tsx";
import { DialogButtons, fieldIssues } from "../../../ui/form/form.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { splits } from "../environment/environment-search.ts";

interface AddTasksDialogProps {
  name: string;
  split: TaskSplitName;
  isOpen: boolean;
  onClose(): void;
}

export function AddTasksDialog({ isOpen, onClose, ...form }: AddTasksDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      hasForm
      title="Add tasks"
      hint="A task is a starting point: a first observation, a prompt for the agent, and a goal."
    >
      <AddTasksForm {...form} onClose={onClose} />
    </Dialog>
  );
}

type Source = "one" | "dataset" | "lines";

interface Task {
  initial_state: string;
  prompt: string;
  goal: string;
}

function AddTasksForm({ name, split: firstSplit, onClose }: Omit<AddTasksDialogProps, "isOpen">) {
  const { data: datasets, error: listError } = useQuery(datasetsQuery(usePresage()));
  const [source, setSource] = useState<Source>("one");
  const [split, setSplit] = useState(firstSplit);
  const [datasetId, setDatasetId] = useState("");
  const [lines, setLines] = useState("");
  const [task, setTask] = useState<Task>({ initial_state: "", prompt: "", goal: "" });
  const [wasSent, setSent] = useState(false);
  const add = useAddTasks(name);
  const read = readTaskLines(lines, split);
  const chosen = datasets?.find(({ id }) => id === datasetId) ?? datasets?.[0];
  const refused = fieldIssues(add.error)
    .map(({ path, text }) => `${path.join(" ")}: ${text}`)
    .join(". ");
  const issues = {
    initial_state: task.initial_state === "" ? "This field is required." : undefined,
    lines: "issue" in read ? read.issue : undefined,
  };

  function tasksToAdd(): Parameters<typeof add.mutate>[0] | undefined {
    if (source === "dataset") return chosen && { dataset_id: chosen.id, split };
    if (source === "lines") return "tasks" in read ? read.tasks : undefined;
    if (task.initial_state === "") return undefined;
    const { initial_state, prompt, goal } = task;
    return [{ split, initial_state, ...(prompt !== "" && { prompt }), ...(goal !== "" && { goal }) }];
  }

  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setSent(true);
        const tasks = tasksToAdd();
        if (tasks !== undefined) add.mutate(tasks, { onSuccess: onClose });
      }}
    >
      <div className="flex flex-wrap items-center gap-2">
        <Segmented<Source>
          label="Source of the tasks"
          value={source}
          options={[
            { value: "one", label: "One task" },
            { value: "dataset", label: "A dataset" },
            { value: "lines", label: "JSON lines" },
          ]}
          onChange={setSource}
        />
        <Select<TaskSplitName> aria-label="Split" value={split} options={splits} onChange={setSplit} />
      </div>
      {source === "one" && (
        <TaskFields task={task} issue={wasSent ? issues.initial_state : undefined} onChange={setTask} />
      )}
      {source === "dataset" && (
        <SelectField
          label="Dataset"
          hint={
            chosen?.latest_revision
              ? `The first state of each trajectory becomes a task: ${counted(chosen.latest_revision.trajectories, "task")}.`
              : "The first state of each trajectory becomes a task."
          }
          issue={datasets?.length === 0 ? "There is no dataset yet." : undefined}
          value={chosen?.id ?? ""}
          options={(datasets ?? []).map((dataset) => ({ value: dataset.id, label: dataset.name }))}
          onChange={setDatasetId}
        />
      )}
      {source === "lines" && (
        <TextAreaField
          label="Tasks"
          hint="One JSON object per line. Its own split, if any, overrides the one above."
          issue={wasSent ? issues.lines : undefined}
          className="min-h-40!"
          placeholder='{"initial_state": "You are in a kitchen.", "prompt": "Turn on the stove.", "goal": "The stove is on."}'
          value={lines}
          onChange={setLines}
        />
      )}
      {refused !== "" && (
        <p role="alert" className="text-sm text-fail">
          {refused}
        </p>
      )}
      {source === "dataset" && listError !== null && <ErrorNotice error={listError} />}
      {add.error !== null && refused === "" && <ErrorNotice error={add.error} />}
      <DialogButtons onCancel={onClose} isBusy={add.isPending}>
        Add
      </DialogButtons>
    </form>
  );
}

/** Tasks from JSON lines, or the line with an issue. Lines without a split get the given one. */
function readTaskLines(text: string, split: TaskSplitName): { tasks: TaskLine[] } | { issue: string } {
  const tasks: TaskLine[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return { issue: `Line ${index + 1} is no JSON object.` };
      tasks.push({ split, ...(value as TaskLine) });
    } catch {
      return { issue: `Line ${index + 1} is not JSON.` };
    }
  }
  return tasks.length === 0 ? { issue: "Write a task on each line, as JSON." } : { tasks };
}

interface TaskFieldsProps {
  task: Task;
  /** The issue of the first observation. */
  issue: string | undefined;
  onChange(task: Task): void;
}

function TaskFields({ task, issue, onChange }: TaskFieldsProps) {
  return (
    <>
      <TextAreaField
        label="First observation"
        hint="What the agent sees first; the state of the first step."
        issue={issue}
        value={task.initial_state}
        onChange={(text) => onChange({ ...task, initial_state: text })}
      />
      <TextField
        label="Prompt"
        hint="What the agent is told to do."
        value={task.prompt}
        onChange={(prompt) => onChange({ ...task, prompt })}
      />
      <TextField
        label="Goal"
        hint="Replaces {goal} in stop rules, and is the evaluator’s gold answer."
        value={task.goal}
        onChange={(goal) => onChange({ ...task, goal })}
      />
    </>
  );
}
