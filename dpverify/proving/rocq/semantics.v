(* What the operators of certificates mean (docs/certificates.md), in the real numbers of the standard library.

   Division, logarithms and roots are total functions there and partial ones here: a statement says of each expression
   that it is defined, and the conditions for that are in the statement itself. *)
Require Import Reals ZArith Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* Powers. A number as exponent is written as what it is: x ^ 2, / x, sqrt x. This is what all others mean, and rules.v
   shows that it is the same. *)
Definition whole (e : R) : Prop := IZR (Int_part e) = e.

Definition power (b e : R) : R :=
  if Req_EM_T (IZR (Int_part e)) e then powerRZ b (Int_part e)
  else if Rlt_dec 0 b then exp (e * ln b) else 0.

Definition power_defined (b e : R) : Prop :=
  (whole e /\ (b <> 0 \/ 0 <= e)) \/ (~ whole e /\ (0 < b \/ (b = 0 /\ 0 < e))).

(* The largest integer that is not larger, and the smallest that is not smaller. *)
Definition floor (x : R) : R := IZR (Int_part x).
Definition ceiling (x : R) : R := - floor (- x).

(* The distribution function of the standard normal law, and the complementary error function. *)
Definition Phi (x : R) : R := 1 / 2 + RInt (fun t => exp (- (t * t) / 2)) 0 x / sqrt (2 * PI).
Definition erfc (x : R) : R := 2 * Phi (- (x * sqrt 2)).
(* Its quantiles: the largest number up to which Phi is at most p. *)
Definition Phi_inverse (p : R) : R := real (Lub_Rbar (fun x => Phi x <= p)).

(* Integrals from one end to another: `at_point a`, or far down or up, `Rbar_locally m_infty` or `p_infty`. *)
Definition integral (f : R -> R) (low high : (R -> Prop) -> Prop) : R := RInt_gen f low high.
Definition integrable (f : R -> R) (low high : (R -> Prop) -> Prop) : Prop := ex_RInt_gen f low high.

(* Sums and products from one integer to another; the first is not larger than the last. *)
Fixpoint sum_of (count : nat) (f : Z -> R) (first : Z) : R :=
  match count with O => f first | S less => f first + sum_of less f (first + 1)%Z end.
Definition sum (f : Z -> R) (first last : Z) : R := sum_of (Z.to_nat (last - first)) f first.
Fixpoint product_of (count : nat) (f : Z -> R) (first : Z) : R :=
  match count with O => f first | S less => f first * product_of less f (first + 1)%Z end.
Definition product (f : Z -> R) (first last : Z) : R := product_of (Z.to_nat (last - first)) f first.

(* Factorials and binomial coefficients of integers that are not negative. *)
Fixpoint factorial_of (count : nat) : Z :=
  match count with O => 1%Z | S less => (Z.of_nat count * factorial_of less)%Z end.
Definition factorial (n : Z) : R := IZR (factorial_of (Z.to_nat n)).
Definition binomial (n k : Z) : R := if (k <=? n)%Z then factorial n / (factorial k * factorial (n - k)) else 0.

(* Vectors of a space of any finite dimension by their coordinates. *)
Definition vector := nat -> R.
Definition vadd (u v : vector) : vector := fun i => u i + v i.
Definition vscale (c : R) (v : vector) : vector := fun i => c * v i.
Fixpoint inner (dimension : nat) (u v : vector) : R :=
  match dimension with O => 0 | S less => inner less u v + u less * v less end.
Definition norm (dimension : nat) (u : vector) : R := sqrt (inner dimension u u).
