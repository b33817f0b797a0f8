/**
 * The places where two threads or two processes meet, which jcstress runs millions of times under
 * different compilers and schedules: rings, mailbox, sleep and wake.
 *
 * <p>A test class holds one meeting; its actors run at once on one state, which is used once. They
 * run on the class path and see the product's packages from inside.
 */
@NullMarked
package io.softdpu.jcstress;

import org.jspecify.annotations.NullMarked;
