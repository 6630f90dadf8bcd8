import { Gate } from '../features/shell/gate.tsx'
import { ToModels } from '../features/shell/to-models.tsx'

export default function Page() {
  return (
    <Gate>
      <ToModels />
    </Gate>
  )
}
