import { adminProcedure, publicProcedure, router, viewerProcedure } from '../trpc.ts'
import {
  changePasswordSchema,
  createUserSchema,
  loginSchema,
  removeUserSchema,
  setRoleSchema,
  setupSchema,
} from './account.schema.ts'
import { changePassword } from './change-password.ts'
import { createUser } from './create-user.ts'
import { listUsers } from './list-users.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { readState } from './read-state.ts'
import { removeUser } from './remove-user.ts'
import { setRole } from './set-role.ts'
import { setUp } from './set-up.ts'

export const accountRouter = router({
  state: publicProcedure.query(({ ctx }) => readState(ctx)),
  setup: publicProcedure.input(setupSchema).mutation(({ ctx, input }) => setUp(ctx, input)),
  login: publicProcedure.input(loginSchema).mutation(({ ctx, input }) => login(ctx, input)),
  logout: viewerProcedure.mutation(({ ctx }) => logout(ctx)),
  changePassword: viewerProcedure.input(changePasswordSchema).mutation(({ ctx, input }) => changePassword(ctx, input)),
  users: adminProcedure.query(({ ctx }) => listUsers(ctx)),
  createUser: adminProcedure.input(createUserSchema).mutation(({ ctx, input }) => createUser(ctx, input)),
  setRole: adminProcedure.input(setRoleSchema).mutation(({ ctx, input }) => setRole(ctx, input)),
  removeUser: adminProcedure.input(removeUserSchema).mutation(({ ctx, input }) => removeUser(ctx, input)),
})
