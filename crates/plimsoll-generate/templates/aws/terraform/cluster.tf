# A cluster has to reach two zones, also when its nodes are in one. In three zones of the world there is no EKS.
data "aws_availability_zones" "others" {
  state            = "available"
  exclude_names    = [var.zone]
  exclude_zone_ids = ["cac1-az3", "use1-az3", "usw1-az2"]

  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

resource "aws_subnet" "other" {
  vpc_id                  = aws_vpc.all.id
  cidr_block              = "10.42.1.0/24"
  availability_zone       = data.aws_availability_zones.others.names[0]
  map_public_ip_on_launch = true
  tags                    = { Name = "${var.name}-other" }
}

resource "aws_route_table_association" "other" {
  subnet_id      = aws_subnet.other.id
  route_table_id = aws_route_table.all.id
}

# Three roles, each with what its holder needs and no more: none of them can be taken by people.
data "aws_iam_policy_document" "taken_by" {
  for_each = {
    cluster = { service = "eks.amazonaws.com", actions = ["sts:AssumeRole"] }
    nodes   = { service = "ec2.amazonaws.com", actions = ["sts:AssumeRole"] }
    driver  = { service = "pods.eks.amazonaws.com", actions = ["sts:AssumeRole", "sts:TagSession"] }
  }

  statement {
    actions = each.value.actions

    principals {
      type        = "Service"
      identifiers = [each.value.service]
    }
  }
}

resource "aws_iam_role" "of" {
  for_each           = toset(["cluster", "nodes", "driver"])
  name               = "${var.name}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.taken_by[each.key].json
}

# The driver alone may make and remove volumes. The nodes may not, so neither may what runs on them.
resource "aws_iam_role_policy_attachment" "of" {
  for_each = {
    AmazonEKSClusterPolicy                  = "cluster"
    AmazonEKSWorkerNodePolicy               = "nodes"
    AmazonEKS_CNI_Policy                    = "nodes"
    AmazonEC2ContainerRegistryPullOnly      = "nodes"
    "service-role/AmazonEBSCSIDriverPolicy" = "driver"
  }
  role       = aws_iam_role.of[each.value].name
  policy_arn = "arn:aws:iam::aws:policy/${each.key}"
}

# costs: the control plane, by the hour
resource "aws_eks_cluster" "cluster" {
  name     = "${var.name}-cluster"
  role_arn = aws_iam_role.of["cluster"].arn
  version  = local.kubernetes_version

  access_config {
    authentication_mode                         = "API"
    bootstrap_cluster_creator_admin_permissions = true
  }

  vpc_config {
    subnet_ids = [aws_subnet.all.id, aws_subnet.other.id]
  }

  depends_on = [aws_iam_role_policy_attachment.of]
}

# In the zone of the disks alone: a volume cannot follow a pod to another one.
# costs: the nodes, their disks of the system, and their public addresses
resource "aws_eks_node_group" "nodes" {
  cluster_name    = aws_eks_cluster.cluster.name
  node_group_name = "nodes"
  node_role_arn   = aws_iam_role.of["nodes"].arn
  subnet_ids      = [aws_subnet.all.id]
  instance_types  = [local.node_type]
  ami_type        = local.node_image

  scaling_config {
    desired_size = local.nodes
    max_size     = local.nodes
    min_size     = local.nodes
  }

  depends_on = [aws_iam_role_policy_attachment.of]
}

resource "aws_eks_addon" "identity" {
  cluster_name = aws_eks_cluster.cluster.name
  addon_name   = "eks-pod-identity-agent"
}

# What makes volumes of the classes.
resource "aws_eks_addon" "driver" {
  cluster_name = aws_eks_cluster.cluster.name
  addon_name   = "aws-ebs-csi-driver"

  pod_identity_association {
    role_arn        = aws_iam_role.of["driver"].arn
    service_account = "ebs-csi-controller-sa"
  }

  depends_on = [aws_eks_addon.identity, aws_eks_node_group.nodes]
}

output "cluster" {
  description = "The name of the cluster"
  value       = aws_eks_cluster.cluster.name
}

output "region" {
  description = "Where it is"
  value       = var.region
}
