package io.escapement.ledger;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The typed face of the schema's functions, for one role.
 *
 * <p>Cost: each call is one statement in its own transaction, one round trip, however large the
 * batch. Thread rule: any thread; each call takes a connection of the pool. Failure: {@link
 * LedgerException}, and then the call may or may not have been committed; what follows is said at
 * each operation. Outcomes that are to be expected are values, never exceptions.
 */
public final class Ledger implements AutoCloseable {

  private final HikariDataSource pool;
  private final Admit admit;
  private final Positions positions;
  private final Claim claim;
  private final Observe observe;
  private final Renew renew;
  private final Reclaim reclaim;
  private final ReadHorizon horizon;
  private final Lanes lanes;
  private final Cancel cancel;
  private final Audit audit;
  private final Operate operate;
  private final RunCommand command;
  private final Inspect inspect;

  private Ledger(HikariDataSource pool) {
    this.pool = pool;
    Statements statements = new Statements(pool);
    this.admit = new Admit(statements);
    this.positions = new Positions(statements);
    this.claim = new Claim(statements);
    this.observe = new Observe(statements);
    this.renew = new Renew(statements);
    this.reclaim = new Reclaim(statements);
    this.horizon = new ReadHorizon(statements);
    this.lanes = new Lanes(statements);
    this.cancel = new Cancel(statements);
    this.audit = new Audit(statements);
    this.operate = new Operate(statements);
    this.command = new RunCommand(statements);
    this.inspect = new Inspect(statements);
  }

  /**
   * Connects under a role and checks the schema.
   *
   * @throws LedgerUnavailableException with one line that names the setting and the cure
   */
  public static Ledger connect(LedgerConfig config, Role role) {
    return new Ledger(Pools.open(config, role));
  }

  /**
   * Decides every submission of a batch and moves the positions, in one transaction. After an
   * exception read the positions again: they say whether the batch was committed.
   */
  public Admission admit(AdmissionBatch batch) {
    return admit.apply(batch);
  }

  /** The positions that the ledger has of these partitions; those it has none of are absent. */
  public Map<PartitionKey, Long> positions(Collection<PartitionKey> partitions) {
    return positions.apply(partitions);
  }

  /**
   * Claims tasks that are due, under one lease owner; one answer for every id.
   *
   * @param owner names the process incarnation and this claim, so that a claim whose answer was
   *     lost can be found
   * @param work what the worker can do; other tasks are not claimed
   */
  public List<ClaimAnswer> claim(String owner, WorkFilter work, Collection<Long> tasks) {
    return claim.apply(owner, work, tasks);
  }

  /** The same for some kinds of work, on any channel. */
  public List<ClaimAnswer> claim(String owner, Collection<String> kinds, Collection<Long> tasks) {
    return claim.apply(owner, WorkFilter.ofKinds(kinds), tasks);
  }

  /**
   * Claims what is due in some slots of a queue, oldest first, under one lease owner; what is
   * paused is passed over at no cost.
   *
   * @param work what the worker can do
   * @param limit the most tasks, 1 to 10,000
   * @return an answer for each task that was claimed, or settled by the claim
   */
  public List<ClaimAnswer> claimDue(
      String owner, String queue, Collection<Integer> slots, WorkFilter work, int limit) {
    return claim.due(owner, queue, slots, work, limit);
  }

  /** The tasks that one claim holds: after a claim's answer was lost. */
  public List<ClaimedTask> claimedBy(String owner) {
    return claim.claimedBy(owner);
  }

  /** Settles attempts, all in one transaction; one answer for every observation, in order. */
  public List<ObserveAnswer> observe(List<Observation> observations) {
    return observe.apply(observations);
  }

  /**
   * Runs work in the transaction that completes its task: the work behind a savepoint, then the
   * observation, which fences it. Any answer but COMPLETED, and any exception, undoes the work; so
   * do a lease that has ended and a cancellation that was asked for. Work whose attempt is lost
   * before does not begin. The lease is the caller's to renew meanwhile.
   *
   * @throws LedgerException if the outcome of the commit is not known; {@link #outcome} tells later
   */
  public ObserveAnswer complete(ClaimedTask task, TransactionalWork work) {
    return observe.inTransaction(task, work);
  }

  /** How an attempt ended; empty while it runs, and if there is no such attempt. */
  public Optional<String> outcome(long task, int attempt) {
    return observe.outcome(task, attempt);
  }

  /** Renews leases; one answer for each, in order. */
  public List<RenewAnswer> renew(List<LeaseKey> leases) {
    return renew.apply(leases);
  }

  /**
   * Ends leases that ran out and expired waiting tasks of some slots, at most {@code limit} of
   * each.
   *
   * @return the tasks that wait again, with when they are due
   */
  public List<Horizon.Entry> reclaim(String queue, Collection<Integer> slots, int limit) {
    return reclaim.apply(queue, slots, limit);
  }

  /**
   * Folds release slips into the budgets, unless an admission holds them.
   *
   * @return whether anything was folded
   */
  public boolean fold() {
    return reclaim.fold();
  }

  /**
   * Forgets intents that ended before the replay window, as a background duty. Call it again until
   * it is at the end.
   *
   * @param limit how many intents to look at, 1 to 100,000
   */
  public Forgotten forget(int limit) {
    return reclaim.forget(limit);
  }

  /**
   * What of some work is due, or whose lease ends, in these slots before a moment.
   *
   * @param limit about how many entries at most; shared evenly by the slots
   */
  public Horizon horizon(
      String queue, Collection<Integer> slots, WorkFilter work, Instant until, int limit) {
    return horizon(queue, slots, work, until, limit, false, Set.of());
  }

  /**
   * The same without some kinds; by lane, every tenant's kinds have the same share of the limit, so
   * that one's backlog does not hide what others have.
   */
  public Horizon horizon(
      String queue,
      Collection<Integer> slots,
      WorkFilter work,
      Instant until,
      int limit,
      boolean byLane,
      Collection<String> withoutKinds) {
    return horizon.apply(queue, slots, work, until, limit, byLane, withoutKinds);
  }

  /** The kinds and channels of tasks; those that do not exist are left out. */
  public Map<Long, Lane> lanesOf(Collection<Long> tasks) {
    return lanes.of(tasks);
  }

  /**
   * What is due in a queue, by kind and channel, that this worker can't run; nothing if it can run
   * any.
   */
  public List<UnservedLane> unserved(String queue, WorkFilter work) {
    return lanes.unserved(queue, work);
  }

  /** Cancels what an identity promised; one answer a task, or one NOT_FOUND. */
  public List<CancelAnswer> cancel(
      String namespace, String id, boolean unstartedOnly, String reason) {
    return cancel.apply(namespace, id, unstartedOnly, reason);
  }

  /** Every contradiction of the invariants that the rows show; empty is the good answer. */
  public List<Violation> audit() {
    return audit.apply();
  }

  /** Backlog and budgets. */
  public Status status() {
    return inspect.status();
  }

  /** How many rows there are. */
  public LedgerCounts counts() {
    return inspect.counts();
  }

  /** How late claims came. */
  public Lateness lateness() {
    return inspect.lateness();
  }

  /** How far each relay's slot is behind; empty if none has relayed yet. */
  public List<RelayLag> relayLag() {
    return inspect.relayLag();
  }

  /** Every tenant that is known and its weight in fair service. */
  public Map<String, Integer> tenantWeights() {
    return inspect.tenantWeights();
  }

  /** Defines or changes a kind (operators only). */
  public void defineKind(KindDefinition kind, String reason) {
    operate.defineKind(kind, reason);
  }

  /** Defines or changes a channel (operators only). */
  public void defineChannel(ChannelDefinition channel, String reason) {
    operate.defineChannel(channel, reason);
  }

  /** All channels, by name. */
  public List<ChannelDefinition> channels() {
    return inspect.channels();
  }

  /**
   * Sets whether and where a recipient wants a channel (operators only).
   *
   * @return false if its version is not above the stored one, and nothing was changed
   */
  public boolean setPreference(Preference preference, String reason) {
    return operate.setPreference(preference, reason);
  }

  /**
   * Stops claims; what runs ends (operators only).
   *
   * @return false if it was paused before
   */
  public boolean pause(PauseScope scope, String name, String reason) {
    return operate.pause(scope, name, reason);
  }

  /**
   * Pauses an external channel whose provider does not know its credentials any more (dispatchers).
   *
   * @return false if it was paused before
   */
  public boolean suspend(String channel, String reason) {
    return operate.suspend(channel, reason);
  }

  /**
   * Lets claims go on (operators only).
   *
   * @return false if it was not paused
   */
  public boolean resume(PauseScope scope, String name, String reason) {
    return operate.resume(scope, name, reason);
  }

  /** Takes a waiting task out of service (operators only). */
  public Quarantined quarantine(long task, String reason) {
    return operate.quarantine(task, reason);
  }

  /**
   * Puts a quarantined task back to work (operators only).
   *
   * @param attempt the last that the caller has seen
   */
  public Redriven redrive(long task, int attempt, String reason) {
    return operate.redrive(task, attempt, reason);
  }

  /** Redrives many, lowest ids first, at most {@code limit}, 1 to 10,000 (operators only). */
  public Map<Long, Redriven> redriveAll(TaskFilter filter, int limit, String reason) {
    return operate.redriveAll(filter, limit, reason);
  }

  /**
   * Moves a waiting task to another due time; a past one means now (operators only).
   *
   * @param attempt the last that the caller has seen
   */
  public Rescheduled reschedule(long task, int attempt, Instant due, String reason) {
    return operate.reschedule(task, attempt, due, reason);
  }

  /** Says what became of a parked task, once (operators only). */
  public Resolved resolve(long task, Resolution resolution, String note) {
    return operate.resolve(task, resolution, note);
  }

  /** Resolves many, lowest ids first, at most {@code limit}, 1 to 10,000 (operators only). */
  public Map<Long, Resolved> resolveAll(
      Resolution resolution, TaskFilter filter, int limit, String note) {
    return operate.resolveAll(resolution, filter, limit, note);
  }

  /**
   * Says where a partition goes on whose position and log don't fit together (operators only). What
   * lies before the new position and was not decided is given up.
   *
   * @param expected the position that the caller has seen
   * @param position the offset of the next record to decide
   */
  public PositionMoved movePosition(
      PartitionKey partition, long expected, long position, String reason) {
    return operate.movePosition(partition, expected, position, reason);
  }

  /** Forgets like {@link #forget}, written down as an operator's act (operators only). */
  public Forgotten retire(int limit, String reason) {
    return operate.retire(limit, reason);
  }

  /**
   * Executes one record of the commands topic and moves its partition's position, in one
   * transaction (operators only). After an exception read the position again: it says whether the
   * record was decided.
   */
  public CommandAnswer command(CommandRecord commandRecord) {
    return command.apply(commandRecord);
  }

  /** All kinds, by name. */
  public List<KindDefinition> kinds() {
    return inspect.kinds();
  }

  /** Sets the limits of the whole ledger (operators only). */
  public void setLimits(long maxTasks, long maxBytes, String reason) {
    operate.setLimits(maxTasks, maxBytes, reason);
  }

  /** Sets a tenant's limits and weight (operators only). */
  public void setTenant(String tenant, long maxTasks, long maxBytes, int weight, String reason) {
    operate.setTenant(tenant, maxTasks, maxBytes, weight, reason);
  }

  /** The ledger's own settings: identity, replay window, payload limit. */
  public LedgerSettings settings() {
    return inspect.settings();
  }

  /** What has to be true of the server and the ledger before the parts can work. */
  public Preconditions preconditions() {
    return inspect.preconditions();
  }

  /** How the schema stands to this program's migrations. */
  public SchemaState schema() {
    return inspect.schema();
  }

  /** The database's clock, read now. */
  public Instant clock() {
    return inspect.clock();
  }

  @Override
  public void close() {
    pool.close();
  }
}
