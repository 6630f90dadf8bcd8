const WORDS: Readonly<Record<string, string>> = {
  'account.setup': 'made the admin account',
  'account.login': 'signed in',
  'account.logout': 'signed out',
  'account.changePassword': 'changed the password',
  'account.createUser': 'added a person',
  'account.setRole': 'changed the role',
  'account.removeUser': 'removed a person',
  'config.save': 'saved the config',
  'deploy.inspect': 'uploaded files',
  'deploy.publish': 'deployed a version',
  'deploy.publishPython': 'deployed a Python version',
  'deploy.discard': 'threw an upload away',
  'models.load': 'loaded',
  'models.unload': 'unloaded',
  'models.reload': 'reloaded',
  'models.deleteVersion': 'deleted a version',
  'models.removeModel': 'removed the model',
}

/** A procedure's name in words; unknown ones are shown as they are. */
export function describeAction(action: string): string {
  return WORDS[action] ?? action
}
