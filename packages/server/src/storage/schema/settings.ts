/** Values that all processes on the database share: secrets that are created once, and the addresses of running servers. */
export interface SettingsTable {
  name: string;
  value: string;
}
