import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import { away } from './away.ts';
import { delivered } from './delivered.ts';
import { keptByMembers } from './kept-by-members.ts';

describePlacing('an embedded hub delivers to simulated members and a real one', {}, (fleet) => {
  delivered(fleet);
  keptByMembers(fleet);
  away(fleet, 'killed');
});
