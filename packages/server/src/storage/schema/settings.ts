/** Values created once per database and shared by all its processes. */
export interface SettingsTable {
  name: string;
  value: string;
}
