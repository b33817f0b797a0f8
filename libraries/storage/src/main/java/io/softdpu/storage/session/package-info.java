/**
 * Sessions of the three roles on their control threads. Not exported.
 *
 * <p>Role: {@link io.softdpu.storage.session.Session} runs a session from {@code run} to its end.
 * It has {@link io.softdpu.storage.session.SessionSteps}, the control channels of its peers, a
 * {@link io.softdpu.storage.session.ControlLoop} to wait in, a {@link
 * io.softdpu.storage.session.WorkerGroup}, and an analysis of failures. {@link
 * io.softdpu.storage.session.ClientRequests} handles the requests of a role's client.
 *
 * <p>Thread rule: all belongs to the control thread, the one that calls {@code run}; {@code abort},
 * {@code report} and {@code close} may be called from any thread.
 *
 * <p>Ownership: a session owns its channels, its workers and the resources that its role has
 * opened, and releases them before {@code run} ends.
 */
@NullMarked
package io.softdpu.storage.session;

import org.jspecify.annotations.NullMarked;
